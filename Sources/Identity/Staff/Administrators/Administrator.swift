import Database

/// A console user.
public struct Administrator: Sendable {
  public let id: ID<Administrator>
  public let email: String
  public let displayName: String
  public let grants: [Grant]

  /// Returns true if a grant includes the permission in the pool, which offers an action that
  /// requires it, or on the instance if `pool` is nil.
  ///
  /// Grants are read with each request, so changes take effect immediately.
  public func may(_ permission: Permission, in pool: Pool?) -> Bool {
    may(permission, project: pool?.project, tenant: pool?.tenant)
      && pool.map { permission.isOffered(by: $0.kind, at: $0.access) } ?? true
  }

  /// Returns true if the pool offers the action, and a grant includes its permission there.
  public func may(action: ConsoleAction, in pool: Pool) -> Bool {
    pool.offers.contains(action.requirements.needs)
      && may(action.requirements.permission, in: pool)
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
}

/// A role with the time at which it ends automatically, if it does, and its source.
struct TimedGrant: Sendable {
  let grant: Grant
  let end: Instant?
  /// Whether the administrator has it because of a group at the sign-in provider.
  let isFromProvider: Bool

  static let columns: SQL = "role, project_id, tenant_id, ends_at, is_from_provider"

  static let heldColumns: SQL = "\(columns), administrator_id"

  static func held(
    _ row: inout Row
  ) throws -> (timed: TimedGrant, id: ID<Administrator>) {
    (try TimedGrant(&row), try row.next())
  }

  init(_ row: inout Row) throws {
    grant = try Administrators.grant(&row)
    end = try row.next()
    isFromProvider = try row.next()
  }
}

extension [TimedGrant] {
  var ends: [Grant: Instant] {
    var ends: [Grant: Instant] = [:]
    for timed in self { ends[timed.grant] = timed.end }
    return ends
  }

  var groupGrants: Set<Grant> { Set(filter(\.isFromProvider).map(\.grant)) }
}

extension Administrators {
  /// The maximum time from now until a role ends, in seconds (two years).
  public static let longestGrant: Int64 = 731 * 86_400
  /// How long before its end the holder of a role is reminded, in seconds (a week).
  static let reminderLead: Int64 = 7 * 86_400

  /// Returns whether a role ends so soon that the message about the end date replaces the reminder.
  static func isSoon(_ end: Instant?, at now: Instant) -> Bool {
    guard let end else { return false }
    return end <= now.advanced(bySeconds: reminderLead)
  }

  static func check(
    end: Instant?, at now: Instant
  ) throws(ManagementError) {
    guard let end else { return }
    guard now < end else { throw .endInPast }
    guard end <= now.advanced(bySeconds: longestGrant) else { throw .endTooLate }
  }

  /// Reads the roles in force with their ends.
  static func timedGrants(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> [TimedGrant] {
    try connection.all(
      """
      SELECT \(TimedGrant.columns) FROM administrator_grant
      WHERE administrator_id = \(id) AND \(inForce(at: now))
      ORDER BY role, project_id, tenant_id
      """
    ) { try TimedGrant(&$0) }
  }
}

public enum ManagementError: Error, Sendable {
  /// Only owners of the instance can do this.
  case notAllowed
  /// Administrators can't change their own grants, remove themselves, or reset their own factor
  /// here.
  case oneself
  /// The instance must have at least one owner.
  case lastOwner
  /// Password sign-in is off, and this is the only account that could sign in without the provider.
  case breakGlassAccount
  /// A role that a group gives can't have an end date: it returns at the next sign-in.
  case roleFromGroup
  /// Password sign-in is off, so that an invitation couldn't be accepted.
  case passwordSignInOff
  case endInPast
  /// The end date of a role is more than two years away.
  case endTooLate
  case poolNotFound
  case invalidEmail
  /// A name that's empty or longer than 100 characters.
  case invalidName
  case emailTaken
}
