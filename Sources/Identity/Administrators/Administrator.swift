import Database

/// Somebody who signs in to the console.
public struct Administrator: Sendable {
  /// The id.
  public let id: ID<Administrator>
  /// The address they sign in with.
  public let email: String
  /// Their name.
  public let displayName: String
  /// What they may do, and where.
  public let grants: [Grant]

  /// True when one of the grants allows it: in the scope, or on the instance when nil.
  ///
  /// Grants are read anew with each request, so that a change acts at once.
  public func may(_ permission: Permission, in scope: Scope?) -> Bool {
    may(permission, project: scope?.project, tenant: scope?.tenant)
  }

  /// The same by ids; without a project the instance.
  public func may(_ permission: Permission, project: ID<Project>?, tenant: ID<Tenant>?) -> Bool {
    grants.contains { grant in
      grant.covers(project: project, tenant: tenant)
        && grant.role.permissions.contains(permission)
    }
  }

  /// True when a grant allows it anywhere: on the instance, in a project or in a tenant.
  public func maySomewhere(_ permission: Permission) -> Bool {
    grants.contains { $0.role.permissions.contains(permission) }
  }

  /// True when there is any grant in the project, if only for one tenant of it.
  public func maySee(_ project: ID<Project>) -> Bool {
    grants.contains { $0.project == nil || $0.project == project }
  }

  /// True when there is a grant on the instance.
  public var seesEveryProject: Bool { grants.contains { $0.project == nil } }

  /// The tenants that are all one may see of a project; nil when one may see all of it.
  public func onlyTenants(of project: ID<Project>) -> [ID<Tenant>]? {
    if may(.seeScope, project: project, tenant: nil) { return nil }
    return grants.filter { $0.project == project }.compactMap(\.tenant)
  }

  /// The tenants of a project in which a grant of their own allows something.
  func tenants(of project: ID<Project>, with permission: Permission) -> [ID<Tenant>] {
    grants.filter { $0.project == project && $0.role.permissions.contains(permission) }
      .compactMap(\.tenant)
  }

  /// True when one of the roles requires a second factor.
  public var mustHaveSecondFactor: Bool { grants.contains { $0.role.needsSecondFactor } }

  /// The author of what they do.
  public func author(address: String, requestID: String) -> Author {
    Author(
      actor: .administrator(id, name: displayName), address: address, requestID: requestID)
  }
}

/// A role, and where it counts: the instance, a project with its tenants, or one tenant.
public struct Grant: Hashable, Sendable {
  /// What one is.
  public let role: Role
  /// The project; nil for the instance.
  public let project: ID<Project>?
  /// The tenant; nil for all of the project.
  public let tenant: ID<Tenant>?

  /// Makes a grant.
  public init(role: Role, project: ID<Project>? = nil, tenant: ID<Tenant>? = nil) {
    self.role = role
    self.project = project
    self.tenant = project == nil ? nil : tenant
  }

  /// True when the grant counts in a scope.
  func covers(project other: ID<Project>?, tenant otherTenant: ID<Tenant>?) -> Bool {
    guard let project else { return true }
    guard project == other else { return false }
    return tenant == nil || tenant == otherTenant
  }

  /// The grant in words.
  public var words: String {
    guard let project else { return "\(role.rawValue) of the instance" }
    guard let tenant else { return "\(role.rawValue) of \(project.text)" }
    return "\(role.rawValue) of \(project.text)/\(tenant.text)"
  }
}

/// Why an administrator cannot be made or found.
public enum AdministratorError: Error, Sendable {
  /// The address belongs to another administrator.
  case emailTaken
  /// Not an email address.
  case invalidEmail
  /// A name that is empty or longer than 100 characters.
  case invalidName
  /// A password that is too short, too long or the address itself; the text says which.
  case weakPassword(String)
  /// The project or tenant of a grant does not exist.
  case scopeNotFound
  /// Too many passwords are being hashed; try again after a second.
  case busy
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension AdministratorError: UseCaseError {}
