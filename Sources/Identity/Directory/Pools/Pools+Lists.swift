import Database
public import IdentityToolkitClient

extension Pools {
  /// Lists the projects that an administrator has a grant for, ordered by ID.
  ///
  /// The counts are stored rather than added up, because a project may have thousands of tenants.
  ///
  /// `search` is a part of the name or ID. `onlyDiffering` lists only projects with tenants whose
  /// policies differ from the project's, and whose policy the administrator can read.
  public func projects(
    visibleTo administrator: Administrator, search: String? = nil,
    onlyDiffering: Bool = false, after: String? = nil, limit: Int = 50
  ) async throws -> Page<ProjectSummary> {
    let grants = administrator.grants.filter { grant in
      !onlyDiffering || grant.tenant == nil && grant.role.permissions.contains(.readPolicy)
    }
    guard !grants.isEmpty else { return Page(items: [], next: nil) }
    let source: SQL =
      onlyDiffering
      ? """
      scope s \(index: "scope_differing")
        \(SQL.orderedJoin) project p ON p.project_id = s.project_id
      """
      : "project p JOIN scope s ON s.project_id = p.project_id AND s.tenant_id = ''"
    let id: SQL = onlyDiffering ? "s.project_id" : "p.project_id"
    var condition: SQL = "\(id) > \(after ?? "")"
    let now = Day(store.clock.now())
    if onlyDiffering {
      // The column includes policies that only differ in a start date that has passed. The index skips
      // those that don't differ at all.
      let (own, other) = (
        PolicyInForce.column(of: "s", on: now), PolicyInForce.column(of: "t", on: now)
      )
      condition +=
        """
         AND s.has_differing = 1 AND (EXISTS (
          SELECT 1 FROM scope t WHERE t.project_id = s.project_id AND t.tenant_id <> ''
            AND t.policy_in_force < s.policy_in_force AND \(other) <> \(own))
          OR EXISTS (
          SELECT 1 FROM scope t WHERE t.project_id = s.project_id AND t.tenant_id <> ''
            AND t.policy_in_force > s.policy_in_force AND \(other) <> \(own)))
        """
    }
    if !grants.contains(where: { $0.project == nil }) {
      // Includes the empty ID, which no project has, because SQLite (3.40) would sort for a list
      // with a single element.
      let granted = [""] + grants.compactMap(\.project?.text)
      condition += " AND \(id) IN (\(list: granted))"
    }
    if let search, !search.isEmpty {
      condition +=
        """
         AND (\(SQL.position)(lower(p.display_name), lower(\(search))) > 0
          OR \(SQL.position)(p.project_id, lower(\(search))) > 0)
        """
    }
    let filter = condition
    let limit = Page<ProjectSummary>.size(limit)
    return try await store.read { connection in
      var rows = try connection.all(
        """
        SELECT \(ProjectSummary.columns) FROM \(source)
        WHERE \(filter) AND p.deleted_at IS NULL ORDER BY \(id) LIMIT \(limit + 1)
        """
      ) { try ProjectSummary(&$0) }
      for index in rows.indices {
        guard let tenants = administrator.onlyTenants(of: rows[index].id) else { continue }
        try rows[index].restrict(to: tenants, connection)
      }
      return Page(rows, limit: limit) { $0.id.text }
    }
  }

  /// Lists all projects, ordered by ID, for the command line.
  public func everyProject() async throws -> [(
    id: ID<Project>, number: Int64, displayName: String
  )] {
    try await store.read { connection in
      try connection.all(
        """
        SELECT project_id, number, display_name FROM project
        WHERE project_id > '' AND deleted_at IS NULL ORDER BY project_id
        """
      ) { (try $0.next(), try $0.next(), try $0.next()) }
    }
  }

  /// Returns the names of the first projects that an administrator has a grant for, ordered by ID,
  /// for menus.
  public func projectNames(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [(id: ID<Project>, displayName: String)] {
    guard !administrator.grants.isEmpty else { return [] }
    let condition: SQL =
      administrator.seesEveryProject
      ? "project_id > ''"
      : "project_id IN (\(list: administrator.grants.compactMap(\.project)))"
    return try await store.read { connection in
      try connection.all(
        """
        SELECT project_id, display_name FROM project WHERE \(condition) AND deleted_at IS NULL
        ORDER BY project_id LIMIT \(limit)
        """
      ) { (try $0.next(), try $0.next()) }
    }
  }

  /// Returns the pools of grants, without those that don't exist and grants on the whole instance.
  public func pools(of grants: [Grant]) async throws -> [Grant: Pool] {
    let grants = Set(grants).filter { $0.project != nil }
    guard !grants.isEmpty else { return [:] }
    let (projects, tenants) = (Set(grants.compactMap(\.project)), Set(grants.compactMap(\.tenant)))
    let pools = try await store.read { connection in
      try connection.all(
        """
        SELECT \(Pool.columns) FROM project p \(SQL.orderedJoin) scope s USING (project_id)
        WHERE p.project_id IN (\(list: Array(projects)))
          AND s.tenant_id IN (\(list: [""] + tenants.map(\.text))) AND s.deleted_at IS NULL
        """
      ) { try Pool(&$0) }
    }
    let found = Dictionary(
      uniqueKeysWithValues: pools.map { ([$0.project.text, $0.tenant?.text ?? ""], $0) })
    let named = grants.compactMap { grant in
      found[[grant.project?.text ?? "", grant.tenant?.text ?? ""]].map { (grant, $0) }
    }
    return Dictionary(uniqueKeysWithValues: named)
  }

  /// Returns whether a project allows tenants; true for a project that doesn't exist, which fails
  /// with another error.
  public func areTenantsAllowed(in project: ID<Project>) async throws -> Bool {
    try await store.read { connection in
      try connection.first(
        "SELECT allow_tenants FROM project WHERE project_id = \(project)"
      ) { try $0.next() } ?? true
    }
  }

  /// Lists the tenants of a project, ordered by ID.
  ///
  /// `after` is the cursor of the previous page, the ID of a tenant that may have been deleted
  /// since; any other text gives an empty page.
  public func tenants(
    project: ID<Project>, after: String? = nil, limit: Int = 50
  ) async throws -> Page<PoolSettings> {
    let limit = Page<PoolSettings>.size(limit)
    return try await store.read { connection in
      if let after {
        let known = try connection.first(
          "SELECT 1 FROM scope WHERE project_id = \(project) AND tenant_id = \(after)"
        ) { _ in true }
        guard known == true else { return Page(items: [], next: nil) }
      }
      let tenants = try connection.all(
        """
        SELECT \(PoolSettings.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.project_id = \(project) AND s.tenant_id > \(after ?? "")
          AND s.deleted_at IS NULL
        ORDER BY s.tenant_id LIMIT \(limit + 1)
        """
      ) { try PoolSettings(&$0) }
      return Page(tenants, limit: limit) { $0.pool.tenant?.text ?? "" }
    }
  }

  /// Returns the SQL condition that restricts a list of tenants; nil if none of them may be listed.
  private static func restriction(
    to administrator: Administrator, in project: ID<Project>
  ) -> SQL? {
    guard let only = administrator.onlyTenants(of: project) else { return "" }
    guard !only.isEmpty else { return nil }
    return " AND s.tenant_id IN (\(list: only))"
  }

  /// Returns the names of the first tenants that an administrator has a grant for, ordered by ID,
  /// for menus.
  public func tenantNames(
    project: ID<Project>, visibleTo administrator: Administrator, limit: Int
  ) async throws -> [(id: ID<Tenant>, displayName: String)] {
    guard let restriction = Self.restriction(to: administrator, in: project) else { return [] }
    return try await store.read { connection in
      try connection.all(
        """
        SELECT s.tenant_id, s.display_name FROM scope s
        WHERE s.project_id = \(project) AND s.tenant_id > '' AND s.deleted_at IS NULL
          \(restriction)
        ORDER BY s.tenant_id LIMIT \(limit)
        """
      ) { (try $0.next(), try $0.next()) }
    }
  }
}

public struct ProjectSummary: Hashable, Sendable {
  /// The key of the pool of its own users.
  public let key: Int64
  public let id: ID<Project>
  public let kind: PoolKind
  /// What the connection of the project may do; without a connection, read.
  public let access: AccessLevel
  public let displayName: String
  /// Whether sign-in is disabled for the project's own users.
  public let isDisabled: Bool
  /// The TOTP configuration of the project's own users; nil if there is none, which means disabled.
  public let totp: TOTPConfiguration?
  /// The top-level state of its MFA.
  public let mfaState: MFAState?
  public private(set) var tenants: Int
  /// The number of users, including those of tenants.
  public private(set) var users: Int
  /// The number of users with a second factor.
  public private(set) var enrolledUsers: Int
  /// The number of users outside tenants.
  public let ownUsers: Int
  /// The number of users outside tenants with a second factor.
  public let ownEnrolledUsers: Int
  /// Whether the counts are those of all tenants; false if they're restricted to some.
  public private(set) var isWhole = true
  /// A stamp that increases with every change that affects which tenants differ from the project.
  let policyStamp: Int64

  static let columns: SQL = """
    p.project_id, p.display_name, s.disabled, s.totp_state, s.totp_intervals, p.tenants,
      \(AccountCounts.current(ofProject: "users")),
      \(AccountCounts.current(ofProject: "enrolled_users")), \(AccountCounts.current("users")),
      \(AccountCounts.current("enrolled_users")), s.policy_stamp,
      s.scope_key, p.kind, \(Pool.accessColumn), s.mfa_state
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    displayName = try row.next()
    isDisabled = try row.next()
    totp = try StoredPolicy.totp(&row)
    tenants = try row.next()
    users = try row.next()
    enrolledUsers = try row.next()
    ownUsers = try row.next()
    ownEnrolledUsers = try row.next()
    policyStamp = try row.next()
    key = try row.next()
    kind = try row.next()
    access = (try row.next() as String?).flatMap(AccessLevel.init) ?? .read
    mfaState = try row.next()
  }

  /// Restricts the counts to some tenants, because an administrator of one tenant must not learn
  /// anything about the others.
  mutating func restrict(
    to tenants: [ID<Tenant>], _ connection: borrowing Connection
  ) throws {
    let counts = try connection.first(
      """
      SELECT count(*), coalesce(sum(\(AccountCounts.current("users"))), 0),
        coalesce(sum(\(AccountCounts.current("enrolled_users"))), 0)
      FROM scope s
      WHERE s.project_id = \(id) AND s.tenant_id IN (\(list: tenants))
        AND s.deleted_at IS NULL
      """
    ) { row in try (0...2).map { _ in try row.next() as Int } }
    isWhole = false
    self.tenants = counts?[0] ?? 0
    users = counts?[1] ?? 0
    enrolledUsers = counts?[2] ?? 0
  }

  /// Hashes only the key, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A project or tenant that a search found.
public struct FoundPlace: Sendable {
  public let project: ID<Project>
  /// The tenant; nil for the project.
  public let tenant: ID<Tenant>?
  public let name: String
  public let projectName: String
  public let kind: PoolKind
}

extension Pools {
  /// The maximum number of pools that one search looks at.
  private static let longestLook = 10_000

  /// Finds the first projects and tenants, by ID, whose name or ID has a text, among those that the
  /// administrator can see.
  public func find(
    _ text: String, visibleTo administrator: Administrator, limit: Int
  ) async throws -> [FoundPlace] {
    guard !text.isEmpty else { return [] }
    let matches: SQL = """
      AND (\(SQL.position)(lower(s.display_name), lower(\(text))) > 0
        OR \(SQL.position)(s.tenant_id, lower(\(text))) > 0
        OR s.tenant_id = '' AND \(SQL.position)(s.project_id, lower(\(text))) > 0)
      """
    let grants = administrator.grants
    return try await store.read { connection in
      if administrator.seesEveryProject {
        let end = try connection.first(
          """
          SELECT s.project_id, s.tenant_id FROM scope s WHERE s.project_id > ''
          ORDER BY s.project_id, s.tenant_id LIMIT 1 OFFSET \(Self.longestLook)
          """
        ) { (project: try $0.next() as String, tenant: try $0.next() as String) }
        let bound: SQL =
          end.map { "AND (s.project_id, s.tenant_id) < (\($0.project), \($0.tenant))" } ?? ""
        return try Self.found("s.project_id > '' \(bound) \(matches)", limit: limit, connection)
      }
      var found: [FoundPlace] = []
      for project in Set(grants.compactMap(\.project)).sorted(by: { $0.text < $1.text })
      where found.count < limit {
        let only: SQL =
          administrator.onlyTenants(of: project).map { "AND s.tenant_id IN (\(list: $0))" } ?? ""
        found += try Self.found(
          "s.project_id = \(project) \(only) \(matches)", limit: limit - found.count, connection)
      }
      return found
    }
  }

  private static func found(
    _ condition: SQL, limit: Int, _ connection: borrowing Connection
  ) throws -> [FoundPlace] {
    try connection.all(
      """
      SELECT s.project_id, s.tenant_id, s.display_name, p.display_name, p.kind
      FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE \(condition) AND s.deleted_at IS NULL AND p.deleted_at IS NULL
      ORDER BY s.project_id, s.tenant_id LIMIT \(limit)
      """
    ) { row in
      FoundPlace(
        project: try row.next(), tenant: ID(nonEmpty: try row.next()), name: try row.next(),
        projectName: try row.next(), kind: try row.next())
    }
  }
}
