import Database

/// An isolated user pool inside a project, with its own MFA configuration.
public struct Tenant: Sendable {
  /// The ID: the display name and five random characters.
  public var id: ID<Tenant> { policy.scope.tenant ?? ID("") }
  /// The user pool.
  public var scope: Scope { policy.scope }
  /// The display name.
  public var displayName: String { policy.scope.name }
  /// The enabled sign-in methods.
  public let signIn: SignInMethods
  /// Whether sign-in is disabled.
  public var disableAuth: Bool { policy.scope.isDisabled }
  /// Whether users can unenroll a factor only in a session that passed a second factor.
  public let withdrawalNeedsFactor: Bool
  /// Members that are only stored and returned, as JSON text.
  public let members: String
  /// When the tenant was created.
  public let createdAt: Instant
  /// The actions that the tenant's users can take themselves.
  public let userPermissions: UserPermissions
  /// The password policy; nil if never set.
  public let passwords: PasswordPolicy?
  /// When the password policy was last set.
  public let passwordsChangedAt: Instant?
  /// The MFA policy; nothing is inherited from the project.
  public internal(set) var policy: Policy

  static let columns: SQL = """
    \(Policy.columns), s.created_at, s.members, s.password, s.email_link, s.anonymous,
      s.withdrawal_needs_factor, \(UserPermissions.columns), \(PasswordPolicy.columns)
    """

  init(_ row: borrowing Row) throws {
    policy = try Policy(row)
    let column = Policy.columnCount
    createdAt = Instant(microseconds: try row.value(column))
    members = try row.value(column + 1)
    signIn = SignInMethods(
      password: try row.value(column + 2), emailLink: try row.value(column + 3),
      anonymous: try row.value(column + 4))
    withdrawalNeedsFactor = try row.value(column + 5)
    userPermissions = try UserPermissions(row, from: column + 6)
    let decided = try PasswordPolicy.decided(row, from: column + 6 + UserPermissions.columnCount)
    (passwords, passwordsChangedAt) = (decided?.policy, decided?.at)
  }

  /// The editable part of the tenant.
  public var edit: TenantEdit {
    TenantEdit(
      displayName: displayName, signIn: signIn, disableAuth: disableAuth, members: members,
      userPermissions: userPermissions, passwords: passwords, configuration: policy.configuration,
      withdrawalNeedsFactor: withdrawalNeedsFactor)
  }
}

/// The editable part of a tenant, which is also specified when it's created.
public struct TenantEdit: Equatable, Sendable {
  /// The display name: 4 to 20 letters, digits, and hyphens, beginning with a letter.
  public var displayName: String
  /// The enabled sign-in methods.
  public var signIn: SignInMethods
  /// Whether sign-in is disabled.
  public var disableAuth: Bool
  /// Members that are only stored and returned, as JSON text.
  public var members: String
  /// The actions that the tenant's users can take themselves.
  public var userPermissions: UserPermissions
  /// The password policy; nil if never set.
  public var passwords: PasswordPolicy?
  /// The MFA configuration.
  public var configuration: MFAConfiguration
  /// Whether users can unenroll a factor only in a session that passed a second factor.
  public var withdrawalNeedsFactor: Bool

  /// Creates the values of a tenant; by default all sign-in methods are disabled.
  public init(
    displayName: String,
    signIn: SignInMethods = SignInMethods(password: false, emailLink: false, anonymous: false),
    disableAuth: Bool = false, members: String = "{}",
    userPermissions: UserPermissions = UserPermissions(), passwords: PasswordPolicy? = nil,
    configuration: MFAConfiguration = MFAConfiguration(),
    withdrawalNeedsFactor: Bool = false
  ) {
    self.displayName = displayName
    self.signIn = signIn
    self.disableAuth = disableAuth
    self.members = members
    self.userPermissions = userPermissions
    self.passwords = passwords
    self.configuration = configuration
    self.withdrawalNeedsFactor = withdrawalNeedsFactor
  }

  /// The fields, for comparison in the audit log.
  var auditFields: [AuditField] {
    [
      AuditField(.displayName, .text(displayName)),
      AuditField(.passwordSignIn, .flag(signIn.password)),
      AuditField(.emailLinkSignIn, .flag(signIn.emailLink)),
      AuditField(.anonymousSignIn, .flag(signIn.anonymous)),
      AuditField(.withdrawalNeedsFactor, .flag(withdrawalNeedsFactor)),
      AuditField(.signIn, .flag(!disableAuth)),
      AuditField(.userSignUp, .flag(userPermissions.signUp)),
      AuditField(.userDeletion, .flag(userPermissions.deletion)),
    ] + PasswordPolicy.auditFields(of: passwords)
      + [AuditField(.otherMembers, .text(members))]
  }
}

/// A tenant in a list.
public struct TenantSummary: Hashable, Sendable {
  /// The ID.
  public let id: ID<Tenant>
  /// The display name.
  public let displayName: String
  /// The TOTP configuration; nil if there is none, which means disabled.
  public let totp: TOTPConfiguration?
  /// The enrollment pattern; nil if none is set.
  public let pattern: EnrollmentPattern?
  /// The day from which the pattern “mandatory” applies; nil for immediately, and for other
  /// patterns.
  public let mandatoryFrom: Day?
  /// When the policy was last changed; nil if never.
  public let changedAt: Instant?
  /// The number of users.
  public let users: Int
  /// The number of users with a TOTP factor.
  public let enrolledUsers: Int

  static let columns: SQL = """
    s.tenant_id, s.display_name, s.totp_state, s.totp_intervals, s.pattern, s.policy_changed_at,
      s.users, s.enrolled_users, s.mandatory_from
    """

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    displayName = try row.value(1)
    totp = try Policy.totp(row, from: 2)
    pattern = (try row.value(4) as String?).flatMap(EnrollmentPattern.init(rawValue:))
    changedAt = (try row.value(5) as Int64?).map(Instant.init(microseconds:))
    users = try row.value(6)
    enrolledUsers = try row.value(7)
    mandatoryFrom = (try row.value(8) as String?).flatMap { Day($0) }
  }

  /// Hashes only the ID, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(id.text) }
}

/// Why a tenant can't be created, found, or changed.
public enum TenantError: Error, Sendable {
  /// The project doesn't exist.
  case projectNotFound
  /// The tenant doesn't exist or was deleted.
  case notFound
  /// The display name is missing.
  case missingDisplayName
  /// The display name isn't 4 to 20 letters, digits, and hyphens, beginning with a letter.
  case invalidDisplayName
  /// The project doesn't allow tenants.
  case multiTenancyOff
  /// The link settings for emails are invalid.
  case links(LinkTargetError)
  /// The MFA configuration is invalid.
  case policy(PolicyError)
  /// The password policy is invalid.
  case passwords(PasswordPolicyError)
  /// The reCAPTCHA configuration is invalid.
  case recaptcha(RecaptchaError)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension TenantError: UseCaseError {}
