import Database
import Text

/// What an agent's start page shows, only from pools in which the agent helps users now.
public struct AgentWork: Sendable {
  public struct User: Sendable {
    public let pool: Pool
    public let account: AccountSummary
    /// The agent's last action on the user, and when; nil for users of other lists.
    public var last: AuditRow?
  }

  /// Factors that the agent removed, which another administrator can restore.
  public struct Removal: Sendable {
    public let user: User
    public let until: Instant
  }

  /// The users whom the agent last acted on, from the agent's own audit entries, newest first.
  public let lastUsers: [User]
  /// Users whose codes aren't checked.
  public let locked: [User]
  /// Users with a suspended factor.
  public let suspended: [User]
  /// Those that end next first.
  public let removals: [Removal]
  /// The agent's own pending requests for approval, oldest first.
  public let requests: [Approval]
}

extension Identity {
  /// The number of own audit entries that are looked at for the last users.
  private static let lastEntries = 100
  /// The maximum number of own removals that are looked at.
  private static let lastRemovals = 100

  /// Returns an agent's work; each list has at most `limit` items.
  public func work(of agent: Administrator, limit: Int) async throws -> AgentWork {
    let now = store.clock.now()
    let requests = try await approvals.waiting(visibleTo: agent).filter {
      $0.requester == agent.id
    }
    return try await store.read { connection in
      AgentWork(
        lastUsers: try lastUsers(of: agent, limit: limit, connection),
        locked: try Self.users(
          of: agent, "a.codes_blocked_until", now, limit: limit, connection),
        suspended: try Self.users(
          of: agent, "a.suspended_until", now, limit: limit, connection),
        removals: try Self.removals(by: agent, at: now, limit: limit, connection),
        requests: Array(requests.prefix(limit)))
    }
  }

  private func lastUsers(
    of agent: Administrator, limit: Int, _ connection: borrowing Connection
  ) throws -> [AgentWork.User] {
    var filter = AuditFilter()
    filter.actor = .administrator
    filter.actorID = agent.id.text
    let entries = try audit.search(filter, after: nil, limit: Self.lastEntries, connection).rows
    var (found, seen): ([AgentWork.User], Set<UntrustedText>) = ([], [])
    for entry in entries where entry.object == .account && found.count < limit {
      guard let project = entry.project,
        agent.may(.removeFactors, project: project, tenant: entry.tenant),
        seen.insert(
          UntrustedText("\(project.text)/\(entry.tenant?.text ?? "")/\(entry.objectID)")
        ).inserted
      else { continue }
      let users = try Self.users(
        """
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
          \(SQL.orderedJoin) account a ON a.scope_key = s.scope_key AND a.uid = \(entry.objectID)
        WHERE s.project_id = \(project) AND s.tenant_id = \(entry.tenant?.text ?? "")
          AND s.deleted_at IS NULL
        """, connection)
      found += users.map { AgentWork.User(pool: $0.pool, account: $0.account, last: entry) }
    }
    return found
  }

  /// Returns users of whom a time is in the future: the latest on the instance, or those of the pools
  /// of each grant in order.
  private static func users(
    of agent: Administrator, _ end: SQL, _ now: Instant, limit: Int,
    _ connection: borrowing Connection
  ) throws -> [AgentWork.User] {
    let granted = agent.grants.filter { $0.role.permissions.contains(.removeFactors) }
    if granted.contains(where: { $0.project == nil }) {
      return try users(
        """
        FROM account a \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE \(end) > \(now) AND s.deleted_at IS NULL ORDER BY \(end) DESC LIMIT \(limit)
        """, connection)
    }
    var (found, seen): ([AgentWork.User], Set<Int64>) = ([], [])
    for grant in granted {
      guard found.count < limit, let project = grant.project else { continue }
      let only: SQL = grant.tenant.map { "AND s.tenant_id = \($0)" } ?? ""
      let users = try users(
        """
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
          \(SQL.orderedJoin) account a ON a.scope_key = s.scope_key AND \(end) > \(now)
        WHERE s.project_id = \(project) \(only) AND s.deleted_at IS NULL LIMIT \(limit)
        """, connection)
      // A grant on a project and one on its tenant have the same users.
      found += users.filter { seen.insert($0.account.key).inserted }
    }
    return Array(found.prefix(limit))
  }

  private static func users(
    _ rest: SQL, _ connection: borrowing Connection
  ) throws -> [AgentWork.User] {
    try connection.all("SELECT \(Pool.columns), \(AccountSummary.columns) \(rest)") { row in
      AgentWork.User(pool: try Pool(&row), account: try AccountSummary(&row))
    }
  }

  private static func removals(
    by agent: Administrator, at now: Instant, limit: Int, _ connection: borrowing Connection
  ) throws -> [AgentWork.Removal] {
    let rows = try connection.all(
      """
      SELECT \(Pool.columns), \(AccountSummary.columns), r.removal_id, r.until
      FROM removed_factor r \(SQL.orderedJoin) account a ON a.account_key = r.account_key
        \(SQL.orderedJoin) scope s ON s.scope_key = a.scope_key
        \(SQL.orderedJoin) project p USING (project_id)
      WHERE r.removed_by = \(agent.id) AND r.until > \(now) AND s.deleted_at IS NULL
      ORDER BY r.until LIMIT \(lastRemovals)
      """
    ) { row in
      let user = AgentWork.User(pool: try Pool(&row), account: try AccountSummary(&row))
      let removal: String = try row.next()
      return (id: removal, removal: AgentWork.Removal(user: user, until: try row.next()))
    }
    var seen: Set<String> = []
    let found = rows.filter {
      agent.may(.removeFactors, in: $0.removal.user.pool) && seen.insert($0.id).inserted
    }
    return found.prefix(limit).map(\.removal)
  }
}
