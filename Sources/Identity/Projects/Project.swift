import Database

/// A project: users, tenants, keys, and an MFA configuration.
public struct Project: Sendable {
  /// The ID: 6 to 30 characters of a-z, 0-9, and hyphen, beginning with a letter.
  public var id: ID<Project> { policy.scope.project }
  /// The project number, which resource names contain.
  public var number: Int64 { policy.scope.projectNumber }
  /// The display name.
  public var displayName: String { policy.scope.projectName }
  /// When the project was created.
  public let createdAt: Instant
  /// Configuration members that are only stored and returned, as JSON text.
  public let members: String
  /// The enabled sign-in methods.
  public let signIn: SignInMethods
  /// Whether email enumeration protection is enabled, so that responses don't reveal whether an
  /// email has an account.
  public let emailPrivacy: Bool
  /// Whether several accounts may share an email.
  public let allowDuplicateEmails: Bool
  /// The authorized domains, which links may lead to.
  public let authorizedDomains: [String]
  /// Whether tenants can be created.
  public let allowTenants: Bool
  /// Whether users can unenroll a factor only in a session that passed a second factor.
  public let withdrawalNeedsFactor: Bool
  /// Whether imports into the project and its tenants may contain TOTP secrets.
  public let importsTOTP: Bool
  /// The user pool of the project's own users.
  public var scope: Scope { policy.scope }
  /// The actions that the project's own users can take themselves.
  public let userPermissions: UserPermissions
  /// The password policy of the project's own users; nil if never set.
  public let passwords: PasswordPolicy?
  /// When the password policy was last set.
  public let passwordsChangedAt: Instant?
  /// Whether anonymous accounts outside tenants are deleted after 30 days.
  public let expiresAnonymous: Bool
  /// The MFA policy of the project's own users.
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

  /// The editable part of the project.
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

/// The sign-in methods of a user pool.
public struct SignInMethods: Equatable, Sendable {
  /// Email and password.
  public var password: Bool
  /// A link sent by email.
  public var emailLink: Bool
  /// No credentials.
  public var anonymous: Bool
  /// A code sent to a phone; not available to tenants.
  public var phone: Bool

  /// Creates a set of sign-in methods.
  public init(password: Bool, emailLink: Bool, anonymous: Bool, phone: Bool = false) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
    self.phone = phone
  }
}

/// The editable part of a project.
public struct ProjectEdit: Equatable, Sendable {
  /// The display name, 1 to 100 characters.
  public var displayName: String
  /// Configuration members that are only stored and returned, as JSON text.
  public var members: String
  /// The enabled sign-in methods.
  public var signIn: SignInMethods
  /// Whether email enumeration protection is enabled, so that responses don't reveal whether an
  /// email has an account.
  public var emailPrivacy: Bool
  /// Whether several accounts may share an email.
  public var allowDuplicateEmails: Bool
  /// The authorized domains, which links may lead to.
  public var authorizedDomains: [String]
  /// Whether tenants can be created.
  public var allowTenants: Bool
  /// Whether imports into the project and its tenants may contain TOTP secrets.
  public var importsTOTP: Bool
  /// Whether sign-in is disabled for the project's own users.
  public var disableAuth: Bool
  /// Whether the project's own users can unenroll a factor only in a session that passed a second
  /// factor.
  public var withdrawalNeedsFactor: Bool
  /// The actions that the project's own users can take themselves.
  public var userPermissions: UserPermissions
  /// The password policy of the project's own users; nil if never set.
  public var passwords: PasswordPolicy?
  /// Whether anonymous accounts outside tenants are deleted after 30 days.
  public var expiresAnonymous: Bool
  /// The MFA configuration.
  public var configuration: MFAConfiguration
}

/// A project in a list, with counts.
public struct ProjectSummary: Hashable, Sendable {
  /// The ID.
  public let id: ID<Project>
  /// The display name.
  public let displayName: String
  /// Whether sign-in is disabled for the project's own users.
  public let isDisabled: Bool
  /// The TOTP configuration of the project's own users; nil if there is none, which means disabled.
  public let totp: TOTPConfiguration?
  /// The number of tenants.
  public private(set) var tenants: Int
  /// The number of users, including those of tenants.
  public private(set) var users: Int
  /// The number of users with a second factor.
  public private(set) var enrolledUsers: Int
  /// The number of users outside tenants.
  public let ownUsers: Int
  /// The number of users outside tenants with a second factor.
  public let ownEnrolledUsers: Int
  /// A stamp that increases with every change that affects which tenants differ from the project.
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

  /// Restricts the counts to some tenants, because an administrator of one tenant must not learn
  /// anything about the others.
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

  /// Hashes only the ID, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(id.text) }
}

/// Why a project can't be created, found, or changed.
public enum ProjectError: Error, Sendable {
  /// The ID isn't 6 to 30 characters of a-z, 0-9, and hyphen, beginning with a letter and not
  /// ending with a hyphen.
  case invalidID
  /// The display name is empty or longer than 100 characters.
  case invalidDisplayName
  /// An authorized domain isn't a hostname.
  case invalidDomain(String)
  /// The link settings for emails are invalid.
  case links(LinkTargetError)
  /// The ID is or was in use.
  case idTaken
  /// The project doesn't exist.
  case notFound
  /// The MFA configuration is invalid.
  case policy(PolicyError)
  /// The password policy is invalid.
  case passwords(PasswordPolicyError)
  /// The reCAPTCHA configuration is invalid.
  case recaptcha(RecaptchaError)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension ProjectError: UseCaseError {}
