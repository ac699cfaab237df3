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
  /// True when answers do not tell whether an e-mail address has an account.
  public let emailPrivacy: Bool
  /// True when one address may have several accounts.
  public let allowDuplicateEmails: Bool
  /// The domains that links may lead to.
  public let authorizedDomains: [String]
  /// True when tenants can be made.
  public let allowTenants: Bool
  /// The scope of its own users.
  public var scope: Scope { policy.scope }
  /// The MFA policy of its own users.
  public let policy: Policy

  static let columns: SQL = """
    \(Policy.columns), p.created_at, s.members, s.password, s.email_link, s.anonymous,
      p.email_privacy, p.allow_duplicate_emails, p.authorized_domains, p.allow_tenants
    """

  init(_ row: borrowing Row) throws {
    policy = try Policy(row)
    let column = Policy.columnCount
    createdAt = Instant(microseconds: try row.value(column))
    members = try row.value(column + 1)
    signIn = SignInMethods(
      password: try row.value(column + 2), emailLink: try row.value(column + 3),
      anonymous: try row.value(column + 4))
    emailPrivacy = try row.value(column + 5)
    allowDuplicateEmails = try row.value(column + 6)
    let domains: String = try row.value(column + 7)
    authorizedDomains = domains.split(separator: "\n").map(String.init)
    allowTenants = try row.value(column + 8)
  }

  /// What of it can be changed.
  public var edit: ProjectEdit {
    ProjectEdit(
      displayName: displayName, members: members, signIn: signIn, emailPrivacy: emailPrivacy,
      allowDuplicateEmails: allowDuplicateEmails, authorizedDomains: authorizedDomains,
      allowTenants: allowTenants, disableAuth: scope.isDisabled,
      configuration: policy.configuration)
  }
}

/// Which first factors a scope allows.
public struct SignInMethods: Equatable, Sendable {
  /// E-mail and password.
  public var password: Bool
  /// A link sent by mail.
  public var emailLink: Bool
  /// None at all.
  public var anonymous: Bool

  /// Makes a choice.
  public init(password: Bool, emailLink: Bool, anonymous: Bool) {
    self.password = password
    self.emailLink = emailLink
    self.anonymous = anonymous
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
  /// True when answers do not tell whether an e-mail address has an account.
  public var emailPrivacy: Bool
  /// True when one address may have several accounts.
  public var allowDuplicateEmails: Bool
  /// The domains that links may lead to.
  public var authorizedDomains: [String]
  /// True when tenants can be made.
  public var allowTenants: Bool
  /// True when nobody can sign in to the project's own users.
  public var disableAuth: Bool
  /// The MFA configuration.
  public var configuration: MFAConfiguration
}

/// A project in a list, with counts.
public struct ProjectSummary: Sendable {
  /// The project.
  public let project: Project
  /// The policy of its own users.
  public var policy: Policy { project.policy }
  /// How many tenants it has.
  public let tenants: Int
  /// How many users it has, its tenants' included.
  public let users: Int
  /// How many of them have a TOTP factor.
  public let enrolledUsers: Int
}

/// Why a project cannot be made, found or changed.
public enum ProjectError: Error, Sendable {
  /// An id that is not 6 to 30 of a-z, 0-9 and hyphen with a letter first and no hyphen last.
  case invalidID
  /// A name that is empty or longer than 100 characters.
  case invalidDisplayName
  /// The id is in use.
  case idTaken
  /// No such project.
  case notFound
  /// The MFA configuration is not acceptable.
  case policy(PolicyError)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ProjectError: UseCaseError {}
