import Database

/// The settings of a pool, and its MFA policy.
///
/// What ``PoolEdit`` has is read as its members, such as `settings.signIn`.
@dynamicMemberLookup
public struct PoolSettings: Sendable {
  public var pool: Pool { policy.pool }
  public let createdAt: Instant
  public let passwordsChangedAt: Instant?
  /// The project's first API key; nil for a tenant, or if the project has none.
  public let apiKey: String?
  public private(set) var edit: PoolEdit
  /// The MFA policy; a tenant inherits nothing from its project's.
  public internal(set) var policy: StoredPolicy {
    didSet { edit.configuration = policy.configuration }
  }
  private let projectEmailPrivacy: Bool

  /// Whether responses don't reveal whether an email has an account.
  ///
  /// A tenant without its own setting uses its project's.
  public var hidesUsers: Bool { edit.emailPrivacy ?? projectEmailPrivacy }

  public subscript<Value>(dynamicMember setting: KeyPath<PoolEdit, Value>) -> Value {
    edit[keyPath: setting]
  }

  static let columns: SQL = """
    \(StoredPolicy.columns), s.created_at, s.members, s.password, s.email_link, s.anonymous, s.phone,
      s.withdrawal_needs_factor, p.email_privacy,
      CASE WHEN s.tenant_id = '' THEN (SELECT api_key FROM api_key k
        WHERE k.project_id = s.project_id ORDER BY k.created_at, api_key LIMIT 1) END,
      \(UserPermissions.columns),
      \(PasswordPolicy.columns), \(ProjectSettings.columns)
    """

  init(_ row: inout Row) throws {
    policy = try StoredPolicy(&row)
    createdAt = try row.next()
    let members: String = try row.next()
    let signIn = SignInMethods(
      password: try row.next(), emailLink: try row.next(), anonymous: try row.next(),
      phone: try row.next())
    let changesNeedFactor: Bool = try row.next()
    projectEmailPrivacy = try row.next()
    apiKey = try row.next()
    let permissions = try UserPermissions(&row)
    let passwords = try PasswordPolicy.read(&row)
    passwordsChangedAt = passwords.setAt
    edit = PoolEdit(
      displayName: policy.pool.name, signIn: signIn, disableAuth: policy.pool.isDisabled,
      members: members, userPermissions: permissions,
      passwords: passwords.setAt == nil ? nil : passwords.policy,
      configuration: policy.configuration, changesNeedFactor: changesNeedFactor)
    guard pool.tenant == nil else { return }
    edit.project = try ProjectSettings(&row, emailPrivacy: projectEmailPrivacy)
  }
}

public enum PoolError: Error, Sendable {
  case projectNotFound
  case tenantNotFound
  /// The project ID isn't 6 to 30 characters of a-z, 0-9, and hyphen, beginning with a letter and
  /// not ending with a hyphen.
  case invalidProjectID
  /// The project ID is or was in use.
  case projectIDTaken
  /// The project's display name is empty or longer than 100 characters.
  case invalidProjectName
  case missingTenantName
  /// The tenant's display name isn't 4 to 20 letters, digits, and hyphens, beginning with a letter.
  case invalidTenantName
  case multiTenancyOff
  /// An authorized domain isn't a hostname.
  case invalidDomain(String)
  /// The author can't change the authorized domains and the page for links.
  case ownerOnly
  /// The host of `callbackUri` isn't an authorized domain.
  case unauthorizedHost
  /// The name of an email's sender has a control character, or more than 100 bytes.
  case invalidSenderName
  case invalidReplyTo
  case policy(PolicyError)
  /// The minimum length of passwords isn't 6 to 30.
  case shortestPasswordOutOfRange
  /// The maximum length of passwords is less than the minimum.
  case longestPasswordOutOfRange
  /// The maximum length of passwords is more than 4,096.
  case longestPasswordTooLong
  /// The password policy doesn't have exactly one version.
  case passwordPolicyVersions
  /// Countersign doesn't use reCAPTCHA, but it accepts only configurations that production accepts.
  case recaptcha(RecaptchaFault)
}

public struct SignInMethods: Equatable, Sendable {
  public var password: Bool
  public var emailLink: Bool
  public var anonymous: Bool
  /// A code sent to a phone; not available to tenants.
  public var phone: Bool

  public init(password: Bool, emailLink: Bool, anonymous: Bool, phone: Bool = false) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
    self.phone = phone
  }

  /// Whether a method that supports a second factor is enabled.
  var allowSecondFactor: Bool { password || emailLink }
}

/// The actions that the users of a pool can take themselves (User actions).
public struct UserPermissions: Equatable, Sendable {
  public var signUp: Bool
  public var deletion: Bool

  public init(signUp: Bool = true, deletion: Bool = true) {
    self.signUp = signUp
    self.deletion = deletion
  }

  static let columns: SQL = "s.sign_up_off = 0, s.deletion_off = 0"

  init(_ row: inout Row) throws {
    self.init(signUp: try row.next(), deletion: try row.next())
  }

  static func find(_ pool: Int64, _ connection: borrowing Connection) throws -> UserPermissions {
    try connection.first(
      "SELECT \(columns) FROM scope s WHERE s.scope_key = \(pool)"
    ) { try UserPermissions(&$0) } ?? UserPermissions(signUp: false, deletion: false)
  }

  /// Returns whether a code to sign in is refused, because no account has the address and users
  /// can't create one.
  static func refusesCode(
    for owner: Account?, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    guard owner == nil else { return false }
    return try !find(pool.key, connection).signUp
  }
}

/// Why a reCAPTCHA configuration is invalid.
public enum RecaptchaFault: Sendable {
  /// The end score of a rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case endScore
  /// The start score of a toll fraud rule isn't 0, 0.1, 0.2, and so on, up to 1.
  case startScore
  case missingAction
  /// Text messages are scored while phone protection is off.
  case phoneState
  /// A site key is specified, but there are none here.
  case siteKey
}
