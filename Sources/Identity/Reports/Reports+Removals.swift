import Database

/// How often second factors were removed by one agent for one reason.
public struct RemovalCount: Sendable, Hashable {
  /// The reason; nil if none was given.
  public let reason: SupportReason?
  /// The kind of agent.
  public let agentKind: Actor.Kind
  /// The agent's ID; empty for users, who aren't told apart.
  public let agentID: String
  /// The agent's name at the last removal; empty for users.
  public let agentName: String
  /// The number of removals; a removal of all second factors of a user counts once.
  public let count: Int
}

extension Reports {
  private static let actions = SQL.list(
    [AuditAction.factorRemove, .factorRemoveAll, .factorRevert, .factorWithdraw].map(\.rawValue))

  /// Counts the removals of second factors in a user pool by reason and agent, most first.
  ///
  /// - Throws: ``ReportError/unavailable(_:)``.
  public func removals(
    in scope: Scope, since start: Instant
  ) async throws(ReportError) -> [RemovalCount] {
    try await store.read(ReportError.self) { try Self.removals(in: scope, since: start, $0) }
  }

  static func removals(
    in scope: Scope, since start: Instant, _ connection: borrowing Connection
  ) throws -> [RemovalCount] {
    struct Agent: Hashable {
      let reason: SupportReason?
      let kind: Actor.Kind
      let id: String
    }
    let first = try Audit.firstRow(since: start.advanced(bySeconds: -Audit.slack), connection)
    let filedTo = try Audit.filedTo(connection)
    let what: SQL = "action IN (\(actions)) AND at >= \(start.microseconds)"
    // Rows that aren't filed yet are in no index by action.
    let conditions: [SQL] = [
      """
      audit_id >= \(first) AND audit_id <= \(filedTo)\(scope.auditCondition)
        AND action_group = \(AuditAction.factorRemove.prefix) AND filed = 1
      """, "audit_id >= \(max(first, filedTo + 1))\(scope.auditConditionChecked)",
    ]
    var (counts, names): ([Agent: Int], [Agent: String]) = ([:], [:])
    for condition in conditions {
      let rows = try connection.all(
        """
        SELECT actor_kind, actor_id, actor_name, reason FROM audit
        WHERE \(condition) AND \(what) ORDER BY audit_id
        """
      ) { row in
        let kind = Actor.Kind(rawValue: try row.value(0)) ?? .server
        let isUser = kind == .user || kind == .visitor
        let reason = (try row.value(3) as String?).flatMap { SupportReason(rawValue: $0) }
        let id: String = isUser ? "" : try row.value(1)
        return (
          agent: Agent(reason: reason, kind: isUser ? .user : kind, id: id),
          name: isUser ? "" : try row.value(2) as String
        )
      }
      for row in rows {
        counts[row.agent, default: 0] += 1
        names[row.agent] = row.name
      }
    }
    func order(_ reason: SupportReason?) -> Int {
      reason.flatMap(SupportReason.allCases.firstIndex) ?? SupportReason.allCases.count
    }
    return counts.map { agent, count in
      RemovalCount(
        reason: agent.reason, agentKind: agent.kind, agentID: agent.id,
        agentName: names[agent] ?? "", count: count)
    }.sorted { one, other in
      (-one.count, order(one.reason), one.agentName, one.agentID)
        < (-other.count, order(other.reason), other.agentName, other.agentID)
    }
  }
}
