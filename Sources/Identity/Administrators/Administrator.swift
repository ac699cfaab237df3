import Database

/// A console user.
public struct Administrator: Sendable {
  public let id: ID<Administrator>
  public let email: String
  public let displayName: String
  public let grants: [Grant]

  /// Returns true if a grant includes the permission in the pool, or on the instance if
  /// `pool` is nil.
  ///
  /// Grants are read with each request, so changes take effect immediately.
  public func may(_ permission: Permission, in pool: Pool?) -> Bool {
    may(permission, project: pool?.project, tenant: pool?.tenant)
  }

  /// Returns true if a grant includes the permission in the project and tenant, or on the instance
  /// if `project` is nil.
  public func may(_ permission: Permission, project: ID<Project>?, tenant: ID<Tenant>?) -> Bool {
    grants.contains { grant in
      grant.covers(project: project, tenant: tenant)
        && grant.role.permissions.contains(permission)
    }
  }

  public func maySomewhere(_ permission: Permission) -> Bool {
    grants.contains { $0.role.permissions.contains(permission) }
  }

  /// Returns the broadest role that applies to the pool, or the broadest of all roles if none
  /// does; nil without any grant.
  public func role(in pool: Pool?) -> Role? {
    let applying = grants.filter { $0.covers(project: pool?.project, tenant: pool?.tenant) }
    let held = (applying.isEmpty ? grants : applying).map(\.role)
    return Role.allCases.first(where: held.contains)
  }

  /// Returns true if the administrator has a grant in the project, even if only for one tenant.
  public func maySee(_ project: ID<Project>) -> Bool {
    grants.contains { $0.project == nil || $0.project == project }
  }

  public var seesEveryProject: Bool { grants.contains { $0.project == nil } }

  /// Returns the tenants of a project that the administrator is limited to; nil if they can see the
  /// whole project.
  public func onlyTenants(of project: ID<Project>) -> [ID<Tenant>]? {
    if may(.seePool, project: project, tenant: nil) { return nil }
    return grants.filter { $0.project == project }.compactMap(\.tenant)
  }

  func tenants(of project: ID<Project>, with permission: Permission) -> [ID<Tenant>] {
    grants.filter { $0.project == project && $0.role.permissions.contains(permission) }
      .compactMap(\.tenant)
  }

  public var mustHaveSecondFactor: Bool { grants.contains { $0.role.needsSecondFactor } }

  public func author(address: String, requestID: String) -> Author {
    Author(
      actor: .administrator(id, name: displayName), address: address, requestID: requestID)
  }
}

/// A role and where it applies: the instance, a project with its tenants, or one tenant.
public struct Grant: Hashable, Sendable {
  public let role: Role
  /// The project; nil for the instance.
  public let project: ID<Project>?
  /// The tenant; nil for the whole project.
  public let tenant: ID<Tenant>?

  public init(role: Role, project: ID<Project>? = nil, tenant: ID<Tenant>? = nil) {
    self.role = role
    self.project = project
    self.tenant = project == nil ? nil : tenant
  }

  func covers(project other: ID<Project>?, tenant otherTenant: ID<Tenant>?) -> Bool {
    guard let project else { return true }
    guard project == other else { return false }
    return tenant == nil || tenant == otherTenant
  }

  var managesAdministrators: Bool {
    covers(project: nil, tenant: nil) && role.permissions.contains(.manageAdministrators)
  }
}

public enum AdministratorError: Error, Sendable {
  case emailTaken
  case invalidEmail
  /// A name that's empty or longer than 100 characters.
  case invalidName
  case weakPassword(WeakPassword)
  case poolNotFound
  /// Too many passwords are being hashed; retry after a second.
  case busy
}
