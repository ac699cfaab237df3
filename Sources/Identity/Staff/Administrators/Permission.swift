public import Database

public enum Permission: String, CaseIterable, Sendable {
  /// See that a project or tenant exists, and its counts.
  case seePool = "seeScope"
  /// Read the MFA policy and its history.
  case readPolicy
  case changePolicy
  /// Sign off policy reviews, and download signed evidence.
  case signOffReview
  /// Create a project; requires a grant on the instance.
  case createProject
  case changePool = "changeScope"
  /// Create and delete tenants; requires a grant on the project.
  case manageTenants
  /// Delete a project with all its data; requires a grant on the project.
  case deleteProject
  /// View, create, and revoke API keys and service tokens.
  case manageKeys
  /// Configure trusted token issuers: custom token signing keys and identity providers.
  case manageTrust
  /// Configure what gives access to accounts: where links in emails to users lead, and the codes of
  /// test phone numbers.
  case changeLinks
  /// Find users and see their details, factors, and history.
  case findUsers
  /// Create, change, and delete users.
  case changeUsers
  case exportUsers
  /// Remove and rename second factors.
  case removeFactors
  case endSessions
  case editSupportRules
  /// Protect accounts, act on protected accounts, and unblock agents and accounts.
  case protectUsers
  /// Open pending messages to users; a link in a message gives access to the account.
  case readMessages
  /// See pending approval requests that one could decide.
  case seeApprovals
  case readAudit
  case seeAdministrators
  /// Invite administrators, and grant and revoke roles.
  case manageAdministrators

  /// The roles that include the permission, broadest first.
  public var roles: [Role] { Role.allCases.filter { $0.permissions.contains(self) } }

  /// The permissions that change no account or policy and reveal nothing that gives access to an
  /// account.
  static let ofReaders: Set<Permission> = [
    .seePool, .readPolicy, .findUsers, .readAudit, .seeAdministrators, .seeApprovals,
    .signOffReview,
  ]
}

/// An administrator's role, broadest first.
///
/// A new role needs a case, its permissions, and its texts; no rule names a role.
public enum Role: String, CaseIterable, Sendable, SQLConvertible {
  /// All permissions.
  case owner
  /// Projects, tenants, MFA policy, and API keys; no user data.
  case policy
  /// Users, their factors, and their sessions; no policy.
  case support
  /// Read-only access to everything, and sign-off of policy reviews.
  case auditor

  public var permissions: Set<Permission> {
    switch self {
    case .owner: Self.ofOwner
    case .policy: Self.ofPolicy
    case .support: Self.ofSupport
    case .auditor: Self.ofAuditor
    }
  }

  /// Whether administrators with this role must have a second factor from the second sign-in on:
  /// true for every role that can weaken the protection of an account.
  public var needsSecondFactor: Bool { !permissions.isSubset(of: Permission.ofReaders) }

  // Cached, because each page checks permissions several times.
  private static let ofOwner = Set(Permission.allCases)
  private static let ofPolicy: Set<Permission> = [
    .seePool, .readPolicy, .changePolicy, .createProject, .changePool, .manageTenants,
    .manageKeys, .editSupportRules, .seeApprovals,
  ]
  private static let ofSupport: Set<Permission> = [
    .seePool, .readPolicy, .findUsers, .removeFactors, .endSessions, .seeApprovals,
  ]
  private static let ofAuditor: Set<Permission> = [
    .seePool, .readPolicy, .findUsers, .readAudit, .seeAdministrators, .signOffReview,
  ]
}

public enum ServiceTokenRole: String, CaseIterable, Sendable, SQLConvertible {
  case owner
  /// Configuration and tenants.
  case policy
  /// Looks up users.
  case support
  /// Looks up users and reads the configuration.
  case auditor
  /// An application's backend: its own users.
  case application
  /// Another Countersign that shows the project; each of the three includes the one before it.
  case connectionRead = "connection-read"
  case connectionSupport = "connection-support"
  case connectionPolicy = "connection-policy"

  public var permissions: Set<Permission> {
    switch self {
    case .owner: Self.ofOwner
    case .policy: Self.ofPolicy
    case .support: Self.ofSupport
    case .auditor: Self.ofAuditor
    case .application: Self.ofApplication
    case .connectionRead: Self.ofConnectionRead
    case .connectionSupport: Self.ofConnectionSupport
    case .connectionPolicy: Self.ofConnectionPolicy
    }
  }

  private static let ofOwner = Set(Permission.allCases)
    .subtracting([
      .createProject, .deleteProject, .manageAdministrators, .readMessages, .editSupportRules,
      .protectUsers, .seeApprovals, .signOffReview,
    ])
  private static let ofPolicy: Set<Permission> = [
    .seePool, .readPolicy, .changePolicy, .changePool, .manageTenants,
  ]
  private static let ofSupport: Set<Permission> = [.seePool, .findUsers]
  private static let ofAuditor: Set<Permission> = [.seePool, .readPolicy, .findUsers]
  private static let ofApplication: Set<Permission> = [
    .seePool, .findUsers, .changeUsers, .exportUsers, .endSessions,
  ]
  private static let ofConnectionRead: Set<Permission> = [
    .seePool, .readPolicy, .findUsers, .exportUsers,
  ]
  private static let ofConnectionSupport = ofConnectionRead.union([.changeUsers, .endSessions])
  private static let ofConnectionPolicy = ofConnectionSupport.union([.changePolicy, .changePool])
}
