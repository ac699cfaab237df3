import Database

/// The tenants of a project whose policy differs from the project's.
public struct DifferingTenants: Sendable {
  /// What a cached value depends on, except the project's stamp.
  struct Key: Hashable {
    let project: Int64
    let day: Day
  }

  public let project: ID<Project>
  public let projectName: String
  public let count: Int
  public let first: [DifferingTenant]

  /// Returns the same value with at most `limit` tenants listed.
  func naming(_ limit: Int) -> DifferingTenants {
    DifferingTenants(
      project: project, projectName: projectName, count: count,
      first: Array(first.prefix(limit)))
  }
}

public struct DifferingTenant: Sendable {
  public let id: ID<Tenant>
  public let displayName: String
  public let fields: [PolicyChange.Field]
}

extension Policies {
  /// Returns the tenants that differ from their projects, among those that an administrator can
  /// read together with the project.
  ///
  /// Projects without changes since the last call cost next to nothing.
  ///
  /// `limit` is the maximum number of tenants listed across all projects, up to five.
  public func differing(
    in projects: [ProjectSummary], visibleTo administrator: Administrator, limit: Int = 5
  ) async throws -> [DifferingTenants] {
    let readable = projects.filter { administrator.may(.readPolicy, project: $0.id, tenant: nil) }
    let today = Day(store.clock.now())
    return try await store.read { connection in
      var (found, room) = ([DifferingTenants](), max(limit, 0))
      for project in readable {
        let key = DifferingTenants.Key(project: project.key, day: today)
        let known = try differing.value(of: key, stamp: project.policyStamp) {
          try Self.differing(in: project.id, on: today, connection)
        }
        guard let known else { continue }
        let named = known.naming(room)
        room -= named.first.count
        found.append(named)
      }
      return found
    }
  }

  /// The maximum number of tenants listed.
  private static let named = 5

  static func differing(
    in project: ID<Project>, on today: Day, _ connection: borrowing Connection
  ) throws -> DifferingTenants? {
    let own = try connection.first(
      """
      SELECT s.policy_in_force, \(PolicyInForce.column(of: "s", on: today)) FROM scope s
      WHERE s.project_id = \(project) AND s.tenant_id = '' AND s.deleted_at IS NULL
      """
    ) { (key: try $0.next() as String, effective: try $0.next() as String) }
    guard let (key, effective) = own else { return nil }
    let differs: SQL = "\(PolicyInForce.column(of: "s", on: today)) <> \(effective)"
    let count = try count(differs, from: key, in: project, connection)
    guard count > 0 else { return nil }
    let owner = try Pools.settings(project, nil, connection).policy
    var tenants: [DifferingTenant] = []
    for side in ["s.policy_in_force < \(key)", "s.policy_in_force > \(key)"] as [SQL] {
      let room = named - tenants.count
      guard room > 0 else { break }
      tenants += try connection.all(
        """
        SELECT \(StoredPolicy.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(project) AND s.tenant_id <> '' AND \(side) AND \(differs)
        ORDER BY s.policy_in_force, s.tenant_id LIMIT \(room)
        """
      ) { row in
        let policy = try StoredPolicy(&row)
        return DifferingTenant(
          id: policy.pool.tenant ?? ID(""), displayName: policy.pool.name,
          fields: policy.differences(from: owner, on: today))
      }
    }
    return DifferingTenants(
      project: project, projectName: owner.pool.projectName, count: count, first: tenants)
  }

  /// Returns how many tenants `s` of a project meet a condition that those with the policy `key` don't
  /// meet.
  ///
  /// Reads the policies that sort before and after `key`, so that the index skips the equal ones.
  private static func count(
    _ differs: SQL, from key: String, in project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Int {
    try connection.first(
      """
      SELECT (SELECT count(*) FROM scope s WHERE s.project_id = \(project)
          AND s.tenant_id <> '' AND s.policy_in_force < \(key) AND \(differs))
        + (SELECT count(*) FROM scope s WHERE s.project_id = \(project)
          AND s.tenant_id <> '' AND s.policy_in_force > \(key) AND \(differs))
      """
    ) { try $0.next() as Int } ?? 0
  }
}
