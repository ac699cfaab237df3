import Database

/// An isolated user pool inside a project, with an MFA configuration of its own.
public struct Tenant: Sendable {
  /// The id: the display name and five random characters.
  public var id: ID<Tenant> { policy.scope.tenant ?? ID("") }
  /// Its scope.
  public var scope: Scope { policy.scope }
  /// The name for people.
  public var displayName: String { policy.scope.name }
  /// Which first factors it allows.
  public let signIn: SignInMethods
  /// True when nobody can sign in.
  public var disableAuth: Bool { policy.scope.isDisabled }
  /// True when users withdraw a factor only from a session that has passed one.
  public let withdrawalNeedsFactor: Bool
  /// Members that are stored and echoed only, as JSON text.
  public let members: String
  /// When it was made.
  public let createdAt: Instant
  /// What its users may do without an administrator.
  public let userPermissions: UserPermissions
  /// What passwords of its users must be; nil when nobody has decided.
  public let passwords: PasswordPolicy?
  /// When that was last decided.
  public let passwordsChangedAt: Instant?
  /// Its MFA policy; nothing is inherited from the project.
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

  /// What of it can be changed.
  public var edit: TenantEdit {
    TenantEdit(
      displayName: displayName, signIn: signIn, disableAuth: disableAuth, members: members,
      userPermissions: userPermissions, passwords: passwords, configuration: policy.configuration,
      withdrawalNeedsFactor: withdrawalNeedsFactor)
  }
}

/// What of a tenant is given when it is made, and can be changed.
public struct TenantEdit: Equatable, Sendable {
  /// The name: a letter, then letters, digits and hyphens, 4 to 20 in all.
  public var displayName: String
  /// Which first factors it allows.
  public var signIn: SignInMethods
  /// True when nobody can sign in.
  public var disableAuth: Bool
  /// Members that are stored and echoed only, as JSON text.
  public var members: String
  /// What its users may do without an administrator.
  public var userPermissions: UserPermissions
  /// What passwords of its users must be; nil when nobody has decided.
  public var passwords: PasswordPolicy?
  /// The MFA configuration.
  public var configuration: MFAConfiguration
  /// True when users withdraw a factor only from a session that has passed one.
  public var withdrawalNeedsFactor: Bool

  /// Makes the values of a tenant; all first factors off unless said otherwise.
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

  var words: [AuditField] {
    [
      AuditField("name", displayName), AuditField("password sign-in", Words.onOff(signIn.password)),
      AuditField("email link", Words.onOff(signIn.emailLink)),
      AuditField("anonymous", Words.onOff(signIn.anonymous)),
      AuditField("withdrawal needs a second factor", Words.onOff(withdrawalNeedsFactor)),
      AuditField("sign-in", disableAuth ? "off" : "on"),
      AuditField("sign-up by users", Words.onOff(userPermissions.signUp)),
      AuditField("deletion by users", Words.onOff(userPermissions.deletion)),
      AuditField(
        "passwords", passwords?.words ?? "not decided", value: passwords?.values ?? []),
      AuditField("other members", members),
    ]
  }
}

/// What a list shows of a tenant, read without the rest of it.
public struct TenantSummary: Hashable, Sendable {
  /// The id.
  public let id: ID<Tenant>
  /// The name for people.
  public let displayName: String
  /// The entry for one-time codes; nil when there is none, which means off.
  public let totp: TOTPConfiguration?
  /// The enrollment pattern; nil when none was chosen.
  public let pattern: EnrollmentPattern?
  /// From which day on the pattern “mandatory” counts; nil for at once, and for other patterns.
  public let mandatoryFrom: Day?
  /// When the policy was last changed; nil when never.
  public let changedAt: Instant?
  /// How many users it has.
  public let users: Int
  /// How many of them have a TOTP factor.
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

  /// Hashes the id, by which nearly all summaries differ already.
  public func hash(into hasher: inout Hasher) { hasher.combine(id.text) }
}

/// Why a tenant cannot be made, found or changed.
public enum TenantError: Error, Sendable {
  /// No such project.
  case projectNotFound
  /// No such tenant, or a deleted one.
  case notFound
  /// No name was given.
  case missingDisplayName
  /// A name that breaks the rule of 4 to 20 letters, digits and hyphens.
  case invalidDisplayName
  /// The project does not allow tenants.
  case multiTenancyOff
  /// Where links in emails lead can't be changed like that.
  case links(LinkTargetError)
  /// The MFA configuration is not acceptable.
  case policy(PolicyError)
  /// The password policy is not acceptable.
  case passwords(PasswordPolicyError)
  /// The reCAPTCHA configuration is not acceptable.
  case recaptcha(RecaptchaError)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension TenantError: UseCaseError {}
