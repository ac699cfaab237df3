import Database

/// Manages requests for a second administrator's approval, in pools that require it.
///
/// A request is decided once, within a day, by another administrator with the same permission.
/// Approving it carries it out in the same transaction, under the rules and state at that time.
public struct Approvals: Sendable {
  let store: Store
  let factorRemovals: FactorRemovals

  /// The number of days decided requests are listed.
  public static let daysListed = 30
  /// The number of days decided requests are kept; the audit log keeps what was done.
  static let daysKept = 90
  /// The maximum number of pending requests in a list or count.
  public static let mostWaiting = 100
  private static let share = 200

  /// Lists the pending requests in pools where the administrator can decide, oldest first.
  public func waiting(
    visibleTo administrator: Administrator
  ) async throws -> [Approval] {
    try await store.read { now, connection in
      var found: [Approval] = []
      var last: Int64 = 0
      while found.count < Self.mostWaiting {
        let part = try Self.pending(after: last, at: now, connection)
        found += part.filter {
          $0.state == .waiting && administrator.may($0.kind.permission, in: $0.pool)
        }
        guard part.count == Self.share, let end = part.last else { break }
        last = end.id
      }
      return Array(found.prefix(Self.mostWaiting))
    }
  }

  /// Returns the next requests of all pools that nobody decided and that weren't marked as expired.
  private static func pending(
    after last: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Approval] {
    try connection.all(
      """
      SELECT \(Approval.columns) FROM approval v \(index: "approval_waiting")
        \(SQL.orderedJoin) scope s USING (scope_key) \(SQL.orderedJoin) project p USING (project_id)
      WHERE v.state = 'waiting' AND v.approval_id > \(last) AND s.deleted_at IS NULL
      ORDER BY v.approval_id LIMIT \(share)
      """
    ) { try Approval(&$0, at: now) }
  }

  /// Closes the pending requests of a tenant, or of a project with all its tenants, that is about to
  /// be marked as deleted, with an audit entry each.
  static func closeAll(
    deleted pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    var last: Int64 = 0
    while true {
      let part = try pending(after: last, at: now, connection)
      for approval in part where pool.contains(approval.pool) {
        guard approval.state == .waiting else {
          try expire(approval, at: now, connection)
          continue
        }
        try close(
          approval, .overtaken, by: Author(actor: .server), obstacle: .poolDeleted, at: now,
          connection)
      }
      guard part.count == share, let end = part.last else { return }
      last = end.id
    }
  }

  /// Counts the pending requests from other administrators that the administrator can decide, up to
  /// ``mostWaiting``.
  ///
  /// Every page shows the count, so it reads only what decides.
  public func count(for administrator: Administrator) async throws -> Int {
    guard administrator.maySomewhere(.seeApprovals) else { return 0 }
    return try await store.read { now, connection in
      var count = 0
      var last: Int64 = 0
      while count < Self.mostWaiting {
        let part = try connection.all(
          """
          SELECT v.approval_id, v.kind, s.project_id, s.tenant_id, v.expires_at, v.requester_id
          FROM approval v \(index: "approval_waiting") \(SQL.orderedJoin) scope s USING (scope_key)
          WHERE v.state = 'waiting' AND v.approval_id > \(last) AND s.deleted_at IS NULL
          ORDER BY v.approval_id LIMIT \(Self.share)
          """
        ) { row in
          let id: Int64 = try row.next()
          let kind: Approval.Kind = try row.next()
          let project: ID<Project> = try row.next()
          let tenant = ID<Tenant>(nonEmpty: try row.next())
          let expiry: Instant = try row.next()
          let requester: ID<Administrator> = try row.next()
          let counts =
            !Approval.isOver(expiry, at: now) && requester != administrator.id
            && administrator.may(kind.permission, project: project, tenant: tenant)
          return (id: id, counts: counts)
        }
        count += part.count(where: \.counts)
        guard part.count == Self.share, let end = part.last else { break }
        last = end.id
      }
      return min(count, Self.mostWaiting)
    }
  }

  /// Lists recently decided and expired requests, newest first.
  public func decided(
    visibleTo administrator: Administrator, after: String? = nil, limit: Int = 50
  ) async throws -> Page<Approval> {
    let limit = Page<Approval>.size(limit)
    let now = store.clock.now()
    let oldest = now.advanced(bySeconds: -Int64(Self.daysListed) * 86_400)
    let begin = Self.place(after) ?? (Int64.max, Int64.max)
    return try await store.read { connection in
      var found: [Approval] = []
      var (time, last) = begin
      while found.count <= limit {
        let part = try connection.all(
          """
          SELECT \(Approval.columns) FROM approval v \(index: "approval_decided")
            \(SQL.orderedJoin) scope s USING (scope_key)
              \(SQL.orderedJoin) project p USING (project_id)
          WHERE v.decided_at > \(oldest) AND (v.decided_at, v.approval_id) < (\(time), \(last))
            AND s.deleted_at IS NULL
          ORDER BY v.decided_at DESC, v.approval_id DESC LIMIT \(Self.share)
          """
        ) { try Approval(&$0, at: now) }
        found += part.filter { administrator.may($0.kind.permission, in: $0.pool) }
        guard part.count == Self.share, let end = part.last else { break }
        (time, last) = (end.decidedAt?.microseconds ?? 0, end.id)
      }
      return Page(Array(found.prefix(limit + 1)), limit: limit) {
        "\($0.decidedAt?.microseconds ?? 0)-\($0.id)"
      }
    }
  }

  private static func place(_ text: String?) -> (Int64, Int64)? {
    let parts = (text ?? "").split(separator: "-").compactMap { Int64($0) }
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  public func find(_ id: Int64, in pool: Pool) async throws -> Approval {
    try await store.read { now, connection in
      try Self.find(id, in: pool, at: now, connection)
    }
  }

  static func find(
    _ id: Int64, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Approval {
    let found = try connection.first(
      """
      SELECT \(Approval.columns) FROM approval v \(SQL.orderedJoin) scope s USING (scope_key)
        \(SQL.orderedJoin) project p USING (project_id)
      WHERE v.approval_id = \(id) AND v.scope_key = \(pool.key)
      """
    ) { try Approval(&$0, at: now) }
    guard var found else { throw CallError.notFound }
    if found.isFormer, found.kind == .policy {
      found.change = try formerPolicy(id, in: pool, connection)
    }
    return found
  }

  /// Returns the change of a policy in a request that the version before this one stored.
  private static func formerPolicy(
    _ id: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws -> DirectoryChange? {
    try connection.first(
      """
      SELECT \(PolicyEdit.columns("w")), w.policy_version FROM approval_policy w
      WHERE w.scope_key = \(pool.key) AND w.approval_id = \(id)
      """
    ) { .policy(try PolicyEdit(&$0), version: try $0.next(), seen: nil) }
  }

  static func waiting(
    for account: ID<Account>, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Approval? {
    // At most one is pending, and it's the newest.
    let newest = try connection.first(
      """
      SELECT \(Approval.columns) FROM approval v \(index: "approval_of_user")
        \(SQL.orderedJoin) scope s USING (scope_key) \(SQL.orderedJoin) project p USING (project_id)
      WHERE v.scope_key = \(pool.key) AND v.uid = \(account)
      ORDER BY v.approval_id DESC LIMIT 1
      """
    ) { try Approval(&$0, at: now) }
    return newest?.state == .waiting ? newest : nil
  }

  /// Finds the request of a bulk removal, pending or closed.
  public func find(
    forJob job: Int64, in pool: Pool
  ) async throws -> Approval? {
    try await store.read { now, connection in
      try connection.first(
        """
        SELECT \(Approval.columns) FROM approval v \(index: "approval_of_job")
          \(SQL.orderedJoin) scope s USING (scope_key)
            \(SQL.orderedJoin) project p USING (project_id)
        WHERE v.job_id = \(job) AND v.scope_key = \(pool.key) LIMIT 1
        """
      ) { try Approval(&$0, at: now) }
    }
  }

  /// Returns what deciding a request would require of an administrator, for the confirmation page.
  public func eligibility(
    _ agent: ConsoleSession, on approval: Approval
  ) async throws -> SupportEligibility {
    try await store.read { now, connection in
      let refusal = try obstacle(agent.administrator.id, to: approval, at: now, connection)
      let eligibility = try store.eligibility(
        agent, try SupportRules.find(approval.pool, connection), in: approval.pool, refusal,
        at: now, connection)
      return approval.kind == .policy ? eligibility.unlimited : eligibility
    }
  }

  /// Marks expired requests and deletes those past their retention, a limited number at a time.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    var isMore = false
    // Those that a clock that was ahead requested are over as well.
    let latest = Instant.latestEnd(of: Approval.lifetime, at: now)
    for end: SQL in ["<= \(now)", "> \(latest)"] {
      let late = try connection.all(
        """
        SELECT \(Approval.columns) FROM approval v \(index: "approval_expiry")
          \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE v.state = 'waiting' AND v.expires_at \(end) ORDER BY v.expires_at
        LIMIT \(CleanupLimit.costlyRows)
        """
      ) { try Approval(&$0, at: now) }
      if late.count == CleanupLimit.costlyRows { isMore = true }
      for approval in late { try expire(approval, at: now, connection) }
    }
    let oldest = now.advanced(bySeconds: -Int64(daysKept) * 86_400)
    let hasMore = try connection.deletePart(
      "FROM approval WHERE decided_at IS NOT NULL AND decided_at < \(oldest)", of: "approval",
      by: "scope_key, approval_id")
    return isMore || hasMore
  }
}
