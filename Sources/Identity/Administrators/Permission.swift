/// Something that can be done in a scope, or on the instance.
public enum Permission: String, CaseIterable, Sendable {
  /// See that the project or tenant exists, and its counts.
  case seeScope
  /// Read the MFA policy and its history.
  case readPolicy
  /// Change the MFA policy.
  case changePolicy
  /// Make a project; needs a grant on the instance.
  case createProject
  /// Change a project's or tenant's settings.
  case changeScope
  /// Make and delete tenants; needs a grant on the project.
  case manageTenants
  /// Delete a project with all that is in it; needs a grant on the project.
  case deleteProject
  /// Read API keys and service tokens, make and revoke them.
  case manageKeys
  /// Say whose word about users is believed: keys for custom tokens, providers of identity.
  case manageTrust
  /// Decide where links in emails to users lead.
  case changeLinks
  /// Find users, see their facts, factors and history.
  case findUsers
  /// Make, change and delete users.
  case changeUsers
  /// Download users.
  case exportUsers
  /// Remove and rename second factors.
  case removeFactors
  /// End sessions of users.
  case endSessions
  /// Say what a scope asks of those who act for its users.
  case editSupportRules
  /// Protect accounts, act on protected ones, and let agents and accounts go on that were stopped.
  case protectUsers
  /// Open messages that wait for users; a link in one is a key to the account.
  case readMessages
  /// See which requests wait for a second administrator, of those one could decide.
  case seeApprovals
  /// Read the audit log.
  case readAudit
  /// See administrators and their grants.
  case seeAdministrators
  /// Invite administrators, give and take grants.
  case manageAdministrators
}

/// What an administrator is.
public enum Role: String, CaseIterable, Sendable {
  /// Everything.
  case owner
  /// Projects, tenants, MFA policy, API keys; nothing about users.
  case policy
  /// Users, their factors and sessions; nothing about policy.
  case support
  /// Reads everything, changes nothing.
  case auditor

  /// What the role may do where it was granted.
  public var permissions: Set<Permission> {
    switch self {
    case .owner: Self.ofOwner
    case .policy: Self.ofPolicy
    case .support: Self.ofSupport
    case .auditor: Self.ofAuditor
    }
  }

  /// Whether an administrator with this role must have a second factor from the second sign-in on:
  /// every role that can weaken the protection of an account.
  public var needsSecondFactor: Bool {
    switch self {
    case .owner, .policy, .support: true
    case .auditor: false
    }
  }

  // Made once: each page asks several times.
  private static let ofOwner = Set(Permission.allCases)
  private static let ofPolicy: Set<Permission> = [
    .seeScope, .readPolicy, .changePolicy, .createProject, .changeScope, .manageTenants,
    .manageKeys, .editSupportRules, .seeApprovals,
  ]
  private static let ofSupport: Set<Permission> = [
    .seeScope, .readPolicy, .findUsers, .removeFactors, .endSessions, .seeApprovals,
  ]
  private static let ofAuditor: Set<Permission> = [
    .seeScope, .readPolicy, .findUsers, .readAudit, .seeAdministrators,
  ]
}

/// What a service token is.
public enum ServiceTokenRole: String, CaseIterable, Sendable {
  /// Everything in its scope.
  case owner
  /// Configuration and tenants.
  case policy
  /// Looks users up.
  case support
  /// Looks users up and reads the configuration.
  case auditor
  /// An application's own back end: its users.
  case application

  /// What a token of the role may do in its scope.
  public var permissions: Set<Permission> {
    switch self {
    case .owner: Self.ofOwner
    case .policy: Self.ofPolicy
    case .support: Self.ofSupport
    case .auditor: Self.ofAuditor
    case .application: Self.ofApplication
    }
  }

  private static let ofOwner = Set(Permission.allCases)
    .subtracting([
      .createProject, .deleteProject, .manageAdministrators, .readMessages, .editSupportRules,
      .protectUsers, .seeApprovals,
    ])
  private static let ofPolicy: Set<Permission> = [
    .seeScope, .readPolicy, .changePolicy, .changeScope, .manageTenants,
  ]
  private static let ofSupport: Set<Permission> = [.seeScope, .findUsers]
  private static let ofAuditor: Set<Permission> = [.seeScope, .readPolicy, .findUsers]
  private static let ofApplication: Set<Permission> = [
    .seeScope, .findUsers, .changeUsers, .exportUsers, .endSessions,
  ]
}
