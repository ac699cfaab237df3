import Database

extension Policies {
  /// Returns the policies of a project and its tenants side by side.
  ///
  /// An administrator who can read some tenants only gets neither the project's policy nor the
  /// number of tenants that differ from it.
  public func review(
    _ project: ID<Project>, visibleTo administrator: Administrator,
    _ query: PolicyReviewQuery = PolicyReviewQuery(), after: String? = nil, limit: Int = 50
  ) async throws -> PolicyReview {
    let isWhole = administrator.may(.readPolicy, project: project, tenant: nil)
    let only = isWhole ? nil : administrator.tenants(of: project, with: .readPolicy)
    let limit = Page<PolicySummary>.size(limit)
    let restriction: SQL = only.map { "AND s.tenant_id IN (\(list: $0))" } ?? ""
    let visible: SQL = """
      s.project_id = \(project) AND s.deleted_at IS NULL \(restriction)
      """
    let today = Day(store.clock.now())
    return try await store.read { connection in
      guard let own = try Self.own(project, on: today, connection) else {
        throw PolicyError.poolNotFound
      }
      let totals = isWhole ? own.totals : try Self.totals(visible, connection)
      let differing =
        isWhole
        ? try differing.value(
          of: DifferingTenants.Key(project: own.summary.key, day: today), stamp: own.stamp
        ) {
          try Self.differing(in: project, on: today, connection)
        } : nil
      let condition = Self.condition(visible, query, from: isWhole ? own.key : nil, on: today)
      let tenants =
        query.order == .rejected
        ? try byRejections(
          condition, since: query.rejectedSince, after: after, limit: limit, connection)
        : try Self.tenants(condition, query.order, after: after, limit: limit, connection)
      return PolicyReview(
        project: isWhole ? own.summary : nil, tenants: tenants, count: totals.count,
        users: totals.users, enrolledUsers: totals.enrolled, differing: differing)
    }
  }

  /// Returns the policies of the own users of those projects that the administrator can read.
  public func summaries(
    of projects: [ID<Project>], visibleTo administrator: Administrator
  ) async throws -> [ID<Project>: PolicySummary] {
    let readable = projects.filter { administrator.may(.readPolicy, project: $0, tenant: nil) }
    guard !readable.isEmpty else { return [:] }
    return try await store.read { connection in
      let found = try connection.all(
        """
        SELECT \(PolicySummary.columns), s.project_id FROM scope s
        WHERE s.project_id IN (\(list: readable)) AND s.tenant_id = ''
          AND s.deleted_at IS NULL
        """
      ) { row in
        let summary = try PolicySummary(&row)
        return (try row.next() as ID<Project>, summary)
      }
      return Dictionary(uniqueKeysWithValues: found)
    }
  }

  private static func own(
    _ project: ID<Project>, on today: Day, _ connection: borrowing Connection
  ) throws -> Own? {
    try connection.first(
      """
      SELECT \(PolicySummary.columns), \(PolicyInForce.column(of: "s", on: today)),
        s.policy_stamp, p.tenants,
        \(AccountCounts.current(ofProject: "users")),
        \(AccountCounts.current(ofProject: "enrolled_users"))
      FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project) AND s.tenant_id = '' AND s.deleted_at IS NULL
      """
    ) { row in
      let summary = try PolicySummary(&row)
      return Own(
        summary: summary, key: try row.next(), stamp: try row.next(),
        totals: (
          try row.next(), try row.next() - summary.users,
          try row.next() - summary.enrolledUsers
        ))
    }
  }

  /// The project's own row, with the stored totals of all its tenants.
  private struct Own {
    let summary: PolicySummary
    let key: String
    let stamp: Int64
    let totals: (count: Int, users: Int, enrolled: Int)
  }

  private static func totals(
    _ visible: SQL, _ connection: borrowing Connection
  ) throws -> (count: Int, users: Int, enrolled: Int) {
    try connection.first(
      """
      SELECT count(*), coalesce(sum(\(AccountCounts.current("users"))), 0),
        coalesce(sum(\(AccountCounts.current("enrolled_users"))), 0)
      FROM scope s
      WHERE \(visible) AND s.tenant_id > ''
      """
    ) { (try $0.next(), try $0.next(), try $0.next()) } ?? (0, 0, 0)
  }

  private static func condition(
    _ visible: SQL, _ query: PolicyReviewQuery, from key: String?, on today: Day
  ) -> SQL {
    var condition = visible
    if let search = query.search, !search.isEmpty {
      condition += """
         AND (\(SQL.position)(lower(s.display_name), lower(\(search))) > 0
          OR \(SQL.position)(s.tenant_id, lower(\(search))) > 0)
        """
    }
    let differs: SQL = " AND \(PolicyInForce.column(of: "s", on: today)) <> \(key)"
    return condition + Self.condition(of: query.selection, differs: differs)
  }

  /// The condition of pools `s`; begins with `AND` or is empty.
  static func condition(of selection: PolicyReviewQuery.Selection, differs: SQL) -> SQL {
    switch selection {
    case .all: ""
    case .differs: differs
    case .off: " AND coalesce(s.totp_state, 1) = 1"
    case .wide: " AND coalesce(s.totp_state, 1) <> 1 AND coalesce(s.totp_intervals, 5) > 5"
    case .noneEnrolled:
      """
       AND \(AccountCounts.current("users")) > 0
        AND \(AccountCounts.current("enrolled_users")) = 0
      """
    }
  }

  /// Lists tenants by their share of rejected codes, highest first.
  ///
  /// The counts are cached, so that only those of the last hours are read.
  private func byRejections(
    _ condition: SQL, since: Instant?, after: String?, limit: Int,
    _ connection: borrowing Connection
  ) throws -> Page<PolicySummary> {
    let all = try connection.all(
      "SELECT s.scope_key, s.tenant_id FROM scope s WHERE \(condition) AND s.tenant_id > ''"
    ) { (key: try $0.next() as Int64, tenant: try $0.next() as String) }
    let now = store.clock.now()
    let start = since ?? now.advanced(bySeconds: -30 * 86_400)
    let counts = try activity.attemptCounts(
      of: all.map(\.key), isWhole: false, since: start, at: now, connection)
    let cursor = Cursor(after)
    let places = all.map { tenant in
      let found = counts[tenant.key] ?? AttemptCounts()
      let share = found.all > 0 ? -Int64(found.rejected) * 1_000_000 / Int64(found.all) : 1
      return Cursor(place: share, tenant: tenant.tenant)
    }.filter { cursor < $0 }.sorted()
    let page = Page(Array(places.prefix(limit + 1)), limit: limit, key: \.text)
    guard !page.items.isEmpty else { return Page(items: [], next: nil) }
    let found = try connection.all(
      """
      SELECT \(PolicySummary.columns) FROM scope s
      WHERE \(condition) AND s.tenant_id IN (\(list: page.items.map(\.tenant)))
      """
    ) { try PolicySummary(&$0) }
    // By the bytes of the IDs, which can differ in the normalization of their characters only.
    let tenants = Dictionary(
      uniqueKeysWithValues: found.map { (ID<Tenant>($0.tenant?.text ?? ""), $0) })
    return Page(items: page.items.compactMap { tenants[ID($0.tenant)] }, next: page.next)
  }

  private static func tenants(
    _ condition: SQL, _ order: PolicyReviewQuery.Order, after: String?, limit: Int,
    _ connection: borrowing Connection
  ) throws -> Page<PolicySummary> {
    guard let place = place(order) else {
      let tenants = try connection.all(
        """
        SELECT \(PolicySummary.columns) FROM scope s
        WHERE \(condition) AND s.tenant_id > \(after ?? "") ORDER BY s.tenant_id LIMIT \(limit + 1)
        """
      ) { try PolicySummary(&$0) }
      return Page(tenants, limit: limit) { $0.tenant?.text ?? "" }
    }
    let cursor = Cursor(after)
    let tenants = try connection.all(
      """
      SELECT \(PolicySummary.columns), \(place) AS place FROM scope s
      WHERE \(condition) AND s.tenant_id > ''
        AND (\(place), s.tenant_id) > (\(cursor.place), \(cursor.tenant))
      ORDER BY place, s.tenant_id LIMIT \(limit + 1)
      """
    ) { (try PolicySummary(&$0), place: try $0.next() as Int64) }
    let page = Page(tenants, limit: limit) {
      Cursor(place: $0.place, tenant: $0.0.tenant?.text ?? "").text
    }
    return Page(items: page.items.map(\.0), next: page.next)
  }

  /// The SQL expression that tenants are sorted by before their ID; nil to sort by ID only.
  ///
  /// No index has these values, so the tenants of the one project are sorted; reading their user
  /// counts costs nothing.
  private static func place(_ order: PolicyReviewQuery.Order) -> SQL? {
    switch order {
    case .name, .rejected: nil
    case .window:
      """
      CASE WHEN coalesce(s.totp_state, 1) = 1 THEN 1
        ELSE -coalesce(nullif(s.totp_intervals, -1), 5) END
      """
    case .enrolled:
      """
      CASE WHEN \(AccountCounts.current("users")) > 0
        THEN \(AccountCounts.current("enrolled_users")) * 1000000 / \(AccountCounts.current("users"))
        ELSE 1000001 END
      """
    case .changed: "-coalesce(s.policy_changed_at, 0)"
    case .unenrolled:
      "\(AccountCounts.current("enrolled_users")) - \(AccountCounts.current("users"))"
    }
  }

  /// The start of a page in a sorted list, as URLs carry it.
  private struct Cursor: Comparable {
    var place: Int64
    var tenant: String

    init(place: Int64, tenant: String) { (self.place, self.tenant) = (place, tenant) }

    /// Parses the cursor in a URL; any invalid text means the start of the list.
    init(_ text: String?) {
      (place, tenant) = (.min, "")
      guard let text, let dot = text.firstIndex(of: "."), let number = Int64(text[..<dot]) else {
        return
      }
      (place, tenant) = (number, String(text[text.index(after: dot)...]))
    }

    var text: String { "\(place).\(tenant)" }

    static func < (one: Cursor, other: Cursor) -> Bool {
      (one.place, one.tenant) < (other.place, other.tenant)
    }
  }
}

/// The parts of a pool's policy that a review shows.
public struct PolicySummary: Hashable, Sendable {
  public let key: Int64
  public let tenant: ID<Tenant>?
  public let displayName: String
  public let createdAt: Instant
  public let edit: PolicyEdit
  public let changedAt: Instant?
  public let changedBy: String?
  public let changeReason: String?
  public let users: Int
  /// The number of users with a TOTP factor.
  public let enrolledUsers: Int

  public var inForce: PolicyInForce { PolicyInForce(edit) }

  static let columns: SQL = """
    s.tenant_id, s.display_name, \(PolicyEdit.columns("s")), s.policy_changed_at,
      s.policy_changed_by, \(AccountCounts.current("users")),
      \(AccountCounts.current("enrolled_users")), s.policy_reason, s.scope_key,
      s.created_at
    """

  init(_ row: inout Row) throws {
    tenant = ID(nonEmpty: try row.next())
    displayName = try row.next()
    edit = try PolicyEdit(&row)
    changedAt = try row.next()
    changedBy = try row.next()
    users = try row.next()
    enrolledUsers = try row.next()
    changeReason = try row.next()
    key = try row.next()
    createdAt = try row.next()
  }

  /// Hashes only the tenant, which already distinguishes nearly all summaries.
  public func hash(into hasher: inout Hasher) { hasher.combine(tenant?.text ?? "") }
}

/// Which tenants of a project to review, and in which order.
public struct PolicyReviewQuery: Sendable {
  public enum Selection: String, CaseIterable, Sendable {
    case all
    /// Tenants whose effective policy differs from the project's.
    case differs
    /// Tenants with TOTP disabled.
    case off
    /// Tenants that accept more than five adjacent intervals.
    case wide
    /// Tenants with users, none of whom is enrolled.
    case noneEnrolled = "none-enrolled"
  }

  public enum Order: String, CaseIterable, Sendable {
    /// By ID, which begins with the name that the tenant was created with.
    case name
    /// Widest window first, TOTP disabled last.
    case window
    /// Lowest share of enrolled users first, tenants without users last.
    case enrolled
    /// Highest share of rejected codes first, tenants without codes last.
    case rejected
    /// Latest change first, never changed last.
    case changed
    /// Most users without a second factor first.
    case unenrolled
  }

  /// A part of the name or ID; nil for all tenants.
  public var search: String?
  public var selection: Selection
  public var order: Order
  /// The beginning of the period whose codes a share of rejected codes is of; nil for 30 days of 24
  /// hours.
  public var rejectedSince: Instant?

  public init(
    search: String? = nil, selection: Selection = .all, order: Order = .name,
    rejectedSince: Instant? = nil
  ) {
    (self.search, self.selection, self.order) = (search, selection, order)
    self.rejectedSince = rejectedSince
  }
}

/// The policies of a project and its tenants that an administrator can read.
public struct PolicyReview: Sendable {
  /// The project's own policy; nil for administrators who can read some tenants only.
  public let project: PolicySummary?
  public let tenants: Page<PolicySummary>
  /// The total number of tenants, regardless of the query.
  public let count: Int
  public let users: Int
  /// The number of these users with a TOTP factor.
  public let enrolledUsers: Int
  /// The number of tenants that differ from the project; nil if the administrator can't read the
  /// project's policy.
  public let differing: Int?
}
