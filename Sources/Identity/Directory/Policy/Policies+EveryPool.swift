import Database

/// A pool's policy among those of all projects.
public struct ReviewedPool: Sendable {
  public let project: ID<Project>
  public let projectName: String
  public let kind: PoolKind
  public let policy: PolicySummary
  let stamp: Int64
}

extension Policies {
  /// The maximum number of pools that are looked at for one page.
  private static let longestLook = 10_000

  /// Lists the pools of every project whose policy the administrator can read, by project and
  /// tenant ID, each project's own users first.
  ///
  /// A page that a selection leaves short goes on with the next one, so that none reads all pools.
  /// Whether a tenant differs from its project isn't told to those who can't read the project's
  /// policy.
  public func everyPool(
    visibleTo administrator: Administrator, search: String? = nil,
    _ selection: PolicyReviewQuery.Selection = .all, after: String? = nil, limit: Int = 50
  ) async throws -> Page<ReviewedPool> {
    let limit = Page<ReviewedPool>.size(limit)
    let start = Place(after)
    let filter = Self.filter(search, selection, on: Day(store.clock.now()))
    if administrator.may(.readPolicy, project: nil, tenant: nil) {
      return try await store.read { connection in
        try Self.page(filter, after: start, limit: limit, connection)
      }
    }
    return try await store.read { connection in
      var found: [ReviewedPool] = []
      for project in administrator.projectsWithReadablePolicies where project >= start.project {
        guard found.count <= limit else { break }
        let isWhole = administrator.may(.readPolicy, project: ID(project), tenant: nil)
        if !isWhole, selection == .differs { continue }
        let tenants = administrator.tenants(of: ID(project), with: .readPolicy)
        let only: SQL = isWhole ? "" : "AND s.tenant_id IN (\(list: tenants))"
        // A project's own users have the empty ID.
        let last: SQL =
          project == start.project ? "AND s.tenant_id > \(start.tenant)" : "AND s.tenant_id >= ''"
        found += try Self.pools(
          "s.project_id = \(project) \(last) \(only) \(filter)",
          limit: limit + 1 - found.count, connection)
      }
      return Page(found, limit: limit) { Place($0).text }
    }
  }

  private static func page(
    _ filter: SQL, after start: Place, limit: Int, _ connection: borrowing Connection
  ) throws -> Page<ReviewedPool> {
    let rest: SQL = "(s.project_id, s.tenant_id) > (\(start.project), \(start.tenant))"
    guard !filter.text.isEmpty else {
      return Page(try pools(rest, limit: limit + 1, connection), limit: limit) { Place($0).text }
    }
    let end = try connection.first(
      """
      SELECT s.project_id, s.tenant_id FROM scope s WHERE \(rest)
      ORDER BY s.project_id, s.tenant_id LIMIT 1 OFFSET \(longestLook - 1)
      """
    ) { Place(project: try $0.next(), tenant: try $0.next()) }
    let bound: SQL =
      end.map { "AND (s.project_id, s.tenant_id) <= (\($0.project), \($0.tenant))" } ?? ""
    let found = try pools("\(rest) \(bound) \(filter)", limit: limit + 1, connection)
    let page = Page(found, limit: limit) { Place($0).text }
    return Page(items: page.items, next: page.next ?? end?.text)
  }

  private static func pools(
    _ condition: SQL, limit: Int, _ connection: borrowing Connection
  ) throws -> [ReviewedPool] {
    try connection.all(
      """
      SELECT p.project_id, p.display_name, p.kind, b.policy_stamp, \(PolicySummary.columns)
      FROM scope s \(SQL.orderedJoin) project p ON p.project_id = s.project_id
        \(SQL.orderedJoin) scope b ON b.project_id = s.project_id AND b.tenant_id = ''
      WHERE \(condition) AND s.deleted_at IS NULL AND p.deleted_at IS NULL
      ORDER BY s.project_id, s.tenant_id LIMIT \(limit)
      """
    ) { row in
      let (project, name): (ID<Project>, String) = (try row.next(), try row.next())
      let (kind, stamp): (PoolKind, Int64) = (try row.next(), try row.next())
      return ReviewedPool(
        project: project, projectName: name, kind: kind, policy: try PolicySummary(&row),
        stamp: stamp)
    }
  }

  /// The condition of pools `s` of projects `p` with the own pools `b`; begins with `AND` or is empty.
  private static func filter(
    _ search: String?, _ selection: PolicyReviewQuery.Selection, on today: Day
  ) -> SQL {
    var filter: SQL = ""
    if let search, !search.isEmpty {
      filter += """
         AND (\(SQL.position)(lower(s.display_name), lower(\(search))) > 0
          OR \(SQL.position)(s.tenant_id, lower(\(search))) > 0
          OR \(SQL.position)(lower(p.display_name), lower(\(search))) > 0
          OR \(SQL.position)(p.project_id, lower(\(search))) > 0)
        """
    }
    let differs: SQL =
      """
       AND s.tenant_id > '' AND \(PolicyInForce.column(of: "s", on: today))
        <> \(PolicyInForce.column(of: "b", on: today))
      """
    return filter + condition(of: selection, differs: differs)
  }

  /// The end of a page, as URLs carry it.
  private struct Place {
    let project: String
    let tenant: String

    init(project: String, tenant: String) { (self.project, self.tenant) = (project, tenant) }

    init(_ pool: ReviewedPool) {
      self.init(project: pool.project.text, tenant: pool.policy.tenant?.text ?? "")
    }

    /// Parses a cursor; project IDs have no slash, and no project has the empty ID.
    init(_ text: String?) {
      let parts = (text ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      self.init(
        project: parts.first.map { String($0) } ?? "",
        tenant: parts.count > 1 ? String(parts[1]) : "")
    }

    var text: String { "\(project)/\(tenant)" }
  }
}

extension Administrator {
  /// The IDs of the projects in which the administrator can read a policy, in the order of the bytes,
  /// without those of a grant on the instance.
  fileprivate var projectsWithReadablePolicies: [String] {
    let granted = grants.filter { $0.role.permissions.contains(.readPolicy) }
    return Set(granted.compactMap(\.project?.text)).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }
}
