import Database

/// A project: users, tenants, keys, an MFA configuration.
public struct Project: Sendable {
  /// The id, 6 to 30 of a-z, 0-9 and hyphen, a letter first.
  public var id: ID<Project> { policy.scope.project }
  /// The number, which resource names carry.
  public var number: Int64 { policy.scope.projectNumber }
  /// The name for people.
  public var displayName: String { policy.scope.projectName }
  /// When it was made.
  public let createdAt: Instant
  /// Members of its configuration that are stored and echoed only, as JSON text.
  public let members: String
  /// Which first factors it allows.
  public let signIn: SignInMethods
  /// True when answers do not tell whether an email address has an account.
  public let emailPrivacy: Bool
  /// True when one address may have several accounts.
  public let allowDuplicateEmails: Bool
  /// The domains that links may lead to.
  public let authorizedDomains: [String]
  /// True when tenants can be made.
  public let allowTenants: Bool
  /// True when users withdraw a factor only from a session that has passed one.
  public let withdrawalNeedsFactor: Bool
  /// True when imported users of it and of its tenants may bring TOTP secrets.
  public let importsTOTP: Bool
  /// The scope of its own users.
  public var scope: Scope { policy.scope }
  /// What its own users may do without an administrator.
  public let userPermissions: UserPermissions
  /// What passwords of its own users must be; nil when nobody has decided.
  public let passwords: PasswordPolicy?
  /// When that was last decided.
  public let passwordsChangedAt: Instant?
  /// True when anonymous accounts outside of tenants go after 30 days.
  public let expiresAnonymous: Bool
  /// The MFA policy of its own users.
  public internal(set) var policy: Policy

  static let columns: SQL = """
    \(Policy.columns), p.created_at, s.members, s.password, s.email_link, s.anonymous,
      p.email_privacy, p.allow_duplicate_emails, p.authorized_domains, p.allow_tenants,
      s.phone, s.withdrawal_needs_factor, p.import_totp, s.anonymous_expire,
      \(UserPermissions.columns), \(PasswordPolicy.columns)
    """

  init(_ row: borrowing Row) throws {
    policy = try Policy(row)
    let column = Policy.columnCount
    createdAt = Instant(microseconds: try row.value(column))
    members = try row.value(column + 1)
    signIn = SignInMethods(
      password: try row.value(column + 2), emailLink: try row.value(column + 3),
      anonymous: try row.value(column + 4), phone: try row.value(column + 9))
    emailPrivacy = try row.value(column + 5)
    allowDuplicateEmails = try row.value(column + 6)
    let domains: String = try row.value(column + 7)
    authorizedDomains = domains.split(separator: "\n").map(String.init)
    allowTenants = try row.value(column + 8)
    withdrawalNeedsFactor = try row.value(column + 10)
    importsTOTP = try row.value(column + 11)
    expiresAnonymous = try row.value(column + 12)
    userPermissions = try UserPermissions(row, from: column + 13)
    let decided = try PasswordPolicy.decided(
      row, from: column + 13 + UserPermissions.columnCount)
    (passwords, passwordsChangedAt) = (decided?.policy, decided?.at)
  }

  /// What of it can be changed.
  public var edit: ProjectEdit {
    ProjectEdit(
      displayName: displayName, members: members, signIn: signIn, emailPrivacy: emailPrivacy,
      allowDuplicateEmails: allowDuplicateEmails, authorizedDomains: authorizedDomains,
      allowTenants: allowTenants, importsTOTP: importsTOTP, disableAuth: scope.isDisabled,
      withdrawalNeedsFactor: withdrawalNeedsFactor,
      userPermissions: userPermissions, passwords: passwords, expiresAnonymous: expiresAnonymous,
      configuration: policy.configuration)
  }
}

/// Which first factors a scope allows.
public struct SignInMethods: Equatable, Sendable {
  /// Email and password.
  public var password: Bool
  /// A link sent by mail.
  public var emailLink: Bool
  /// None at all.
  public var anonymous: Bool
  /// A code sent to a phone; tenants do not have it.
  public var phone: Bool

  /// Makes a choice.
  public init(password: Bool, emailLink: Bool, anonymous: Bool, phone: Bool = false) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
    self.phone = phone
  }
}

/// What of a project can be changed.
public struct ProjectEdit: Equatable, Sendable {
  /// The name for people, 1 to 100 characters.
  public var displayName: String
  /// Members of the configuration that are stored and echoed only, as JSON text.
  public var members: String
  /// Which first factors it allows.
  public var signIn: SignInMethods
  /// True when answers do not tell whether an email address has an account.
  public var emailPrivacy: Bool
  /// True when one address may have several accounts.
  public var allowDuplicateEmails: Bool
  /// The domains that links may lead to.
  public var authorizedDomains: [String]
  /// True when tenants can be made.
  public var allowTenants: Bool
  /// True when imported users of it and of its tenants may bring TOTP secrets.
  public var importsTOTP: Bool
  /// True when nobody can sign in to the project's own users.
  public var disableAuth: Bool
  /// True when its own users withdraw a factor only from a session that has passed one.
  public var withdrawalNeedsFactor: Bool
  /// What its own users may do without an administrator.
  public var userPermissions: UserPermissions
  /// What passwords of its own users must be; nil when nobody has decided.
  public var passwords: PasswordPolicy?
  /// True when anonymous accounts outside of tenants go after 30 days.
  public var expiresAnonymous: Bool
  /// The MFA configuration.
  public var configuration: MFAConfiguration
}

/// A project in a list, with counts, read without the rest of it.
public struct ProjectSummary: Hashable, Sendable {
  /// The id.
  public let id: ID<Project>
  /// The name for people.
  public let displayName: String
  /// True when sign-in is switched off for its own users.
  public let isDisabled: Bool
  /// The entry for one-time codes of its own users; nil when there is none, which means off.
  public let totp: TOTPConfiguration?
  /// How many tenants it has.
  public private(set) var tenants: Int
  /// How many users it has, its tenants' included.
  public private(set) var users: Int
  /// How many of them have a second factor.
  public private(set) var enrolledUsers: Int
  /// How many users it has outside of tenants.
  public let ownUsers: Int
  /// How many of those have a second factor.
  public let ownEnrolledUsers: Int
  /// Grows with what decides which tenants differ from it.
  let policyStamp: Int64

  static let columns: SQL = """
    p.project_id, p.display_name, s.disabled, s.totp_state, s.totp_intervals, p.tenants, p.users,
      p.enrolled_users, s.users, s.enrolled_users, s.policy_stamp
    """

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    displayName = try row.value(1)
    isDisabled = try row.value(2)
    totp = try Policy.totp(row, from: 3)
    tenants = try row.value(5)
    users = try row.value(6)
    enrolledUsers = try row.value(7)
    ownUsers = try row.value(8)
    ownEnrolledUsers = try row.value(9)
    policyStamp = try row.value(10)
  }

  /// Counts some tenants only, for one who may see no more: the counts of one tenant's
  /// administrator say nothing of the others.
  mutating func restrict(
    to tenants: [ID<Tenant>], _ connection: borrowing Connection
  ) throws {
    let counts = try connection.first(
      """
      SELECT count(*), coalesce(sum(s.users), 0), coalesce(sum(s.enrolled_users), 0) FROM scope s
      WHERE s.project_id = \(id.text) AND s.tenant_id IN (\(list: tenants.map(\.text)))
        AND s.deleted_at IS NULL
      """
    ) { row in try (0...2).map { try row.value($0) as Int } }
    self.tenants = counts?[0] ?? 0
    users = counts?[1] ?? 0
    enrolledUsers = counts?[2] ?? 0
  }

  /// Hashes the id, by which nearly all summaries differ already.
  public func hash(into hasher: inout Hasher) { hasher.combine(id.text) }
}

/// Why a project cannot be made, found or changed.
public enum ProjectError: Error, Sendable {
  /// An id that is not 6 to 30 of a-z, 0-9 and hyphen with a letter first and no hyphen last.
  case invalidID
  /// A name that is empty or longer than 100 characters.
  case invalidDisplayName
  /// An authorized domain that is not the name of a host.
  case invalidDomain(String)
  /// Where links in emails lead can't be changed like that.
  case links(LinkTargetError)
  /// The id is in use, or was.
  case idTaken
  /// No such project.
  case notFound
  /// The MFA configuration is not acceptable.
  case policy(PolicyError)
  /// The password policy is not acceptable.
  case passwords(PasswordPolicyError)
  /// The reCAPTCHA configuration is not acceptable.
  case recaptcha(RecaptchaError)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ProjectError: UseCaseError {}
