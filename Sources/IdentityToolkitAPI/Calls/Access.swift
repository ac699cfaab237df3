import Identity

/// An action that a bearer token can authorize.
enum BearerAction: CaseIterable, Sendable {
  case readConfig, changeConfig
  case readTenants, createTenants, changeTenants, deleteTenants
  case readProviders, changeProviders
  case createAccounts, lookUpAccounts, updateAccounts, deleteAccounts
  /// A session cookie outlives the user's session, so creating one is a separate permission.
  case createSessionCookies
  /// Returns all data of all users at once.
  case listAccounts

  /// The permission that a token needs; `ServiceTokenRole` defines which roles have it.
  var permission: Permission {
    switch self {
    case .readConfig, .readTenants, .readProviders: .readPolicy
    case .changeProviders: .manageTrust
    case .changeConfig: .changePolicy
    case .changeTenants: .changePool
    case .createTenants, .deleteTenants: .manageTenants
    case .lookUpAccounts: .findUsers
    case .createAccounts, .updateAccounts, .deleteAccounts, .createSessionCookies: .changeUsers
    case .listAccounts: .exportUsers
    }
  }

  /// Whether the path refers to a tenant itself rather than its contents.
  var isAboutTenants: Bool {
    switch self {
    case .readConfig, .changeConfig, .readTenants, .createTenants, .changeTenants, .deleteTenants,
      .readProviders, .changeProviders:
      true
    default: false
    }
  }
}

extension BearerAction {
  /// Whether the action is about tenants themselves, which the project has to allow.
  var needsTenants: Bool {
    switch self {
    case .readTenants, .createTenants, .changeTenants, .deleteTenants: true
    default: false
    }
  }
}

/// The permissions of a bearer token's holder.
///
/// A token is for a project with all its tenants, or for one tenant. Anything else is denied with
/// the same response, whether or not it exists, before more than a project's number is looked up.
extension Operator {
  /// The project of the token; nil for all projects.
  var project: ID<Project>? {
    if case .service(let token) = self { token.project } else { nil }
  }

  /// The tenant of the token; nil for all tenants of its project.
  var tenant: ID<Tenant>? {
    if case .service(let token) = self { token.tenant } else { nil }
  }

  func covers(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    return token.project == project && (token.tenant == nil || token.tenant == tenant)
  }

  /// Whether responses include password hashes, which requires full access.
  ///
  /// An application's backend doesn't need hashes, and a token stolen from it must not expose
  /// them.
  var readsHashes: Bool {
    guard case .service(let token) = self else { return true }
    return token.role == .owner
  }

  func may(_ permission: Permission, in pool: Pool) -> Bool {
    guard case .service(let token) = self else { return true }
    return token.may(permission, in: pool)
  }

  func may(_ action: BearerAction, _ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    // Creating and deleting tenants is a project-level permission that a tenant's token can't
    // grant.
    let place = action.permission == .manageTenants ? nil : tenant
    return token.may(action.permission, project: project, tenant: place)
  }
}
