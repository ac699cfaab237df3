import Identity

/// What a bearer token can be used for, and what it takes.
enum Action: CaseIterable, Sendable {
  case readConfig, changeConfig
  case readTenants, createTenants, changeTenants, deleteTenants
  case readProviders, changeProviders
  case createAccounts, lookUpAccounts, updateAccounts, deleteAccounts
  /// A cookie goes on where the session of a user would end.
  case createSessionCookies
  /// Everything of everybody at once.
  case listAccounts

  /// What a token needs; which roles have it is the rule of `ServiceTokenRole`.
  var permission: Permission {
    switch self {
    case .readConfig, .readTenants, .readProviders: .readPolicy
    case .changeProviders: .manageTrust
    case .changeConfig: .changePolicy
    case .changeTenants: .changeScope
    case .createTenants, .deleteTenants: .manageTenants
    case .lookUpAccounts: .findUsers
    case .createAccounts, .updateAccounts, .deleteAccounts, .createSessionCookies: .changeUsers
    case .listAccounts: .exportUsers
    }
  }

  /// Whether the path is about a tenant as a thing, and not about what is in it.
  var isAboutTenants: Bool {
    switch self {
    case .readConfig, .changeConfig, .readTenants, .createTenants, .changeTenants, .deleteTenants,
      .readProviders, .changeProviders:
      true
    default: false
    }
  }
}

extension Action {
  /// Whether it's about tenants themselves, which a project has to allow.
  var needsTenants: Bool {
    switch self {
    case .readTenants, .createTenants, .changeTenants, .deleteTenants: true
    default: false
    }
  }
}

/// What the holder of a bearer token may do.
///
/// A token is for a project with all its tenants, or for one tenant. Whatever lies outside of it is
/// refused with the same answer, whether it exists or not, and before anything is looked up.
extension Operator {
  /// The project that the token is for; nil when for all.
  var project: ID<Project>? {
    if case .service(let token) = self { token.project } else { nil }
  }

  /// The tenant that the token is for; nil when for all of its project.
  var tenant: ID<Tenant>? {
    if case .service(let token) = self { token.tenant } else { nil }
  }

  func covers(_ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    return token.project == project && (token.tenant == nil || token.tenant == tenant)
  }

  /// Whether it is told the hashes of passwords: whoever may do everything, and nobody else.
  ///
  /// An application's back end need not, and a stolen token of it must not give them away.
  var readsHashes: Bool {
    guard case .service(let token) = self else { return true }
    return token.role == .owner
  }

  func may(_ action: Action, _ project: ID<Project>, _ tenant: ID<Tenant>?) -> Bool {
    guard case .service(let token) = self else { return true }
    // Making and deleting tenants is the project's business, so a tenant's token does not do.
    let place = action.permission == .manageTenants ? nil : tenant
    return token.may(action.permission, project: project, tenant: place)
  }
}
