import Database

/// How often second factors were removed by one agent for one reason.
public struct RemovalCount: Sendable, Hashable {
  /// The reason; nil if none was given or it was erased.
  public let reason: SupportReason?
  /// Whether the reasons were erased with the users' data, if they had any.
  public let isReasonErased: Bool
  public let agentKind: Actor.Kind
  /// The agent's ID; empty for users, who aren't told apart.
  public let agentID: String
  /// The agent's name at the last removal; empty for users.
  public let agentName: String
  /// When, in no order; a removal of all second factors of a user counts once.
  public let times: [Instant]

  public var count: Int { times.count }
}

extension Reports {
  private static let actions = SQL.list(
    [AuditAction.factorRemove, .factorRemoveAll, .factorRevert, .factorWithdraw].map(\.rawValue))

  /// Counts the removals of second factors by reason and agent, most first.
  ///
  /// - Returns: The counts of the pools whose report the reader can read.
  public func removals(
    about subject: ReportSubject, since start: Instant, visibleTo reader: Administrator
  ) async throws -> [RemovalCount] {
    guard reader.may(read: .removals, about: subject) else { throw ActionDenial.notAllowed }
    return try await store.read {
      try Self.removals(about: subject, since: start, visibleTo: reader, $0)
    }
  }

  private static func removals(
    about subject: ReportSubject, since start: Instant, visibleTo reader: Administrator,
    _ connection: borrowing Connection
  ) throws -> [RemovalCount] {
    struct Agent: Hashable {
      let reason: SupportReason?
      let isReasonErased: Bool
      let kind: Actor.Kind
      let id: String
    }
    let first = try Audit.firstRow(since: start.advanced(bySeconds: -Audit.slack), connection)
    let filedTo = try Audit.filedTo(connection)
    let what: SQL = "x.action IN (\(actions)) AND x.at >= \(start)"
    let isErased: SQL = """
      x.reason IS NULL AND EXISTS (SELECT 1 FROM audit_erasure e
        WHERE e.audit_id = x.audit_id AND e.part = \(AuditPart.texts.index))
      """
    var times: [Agent: [Instant]] = [:]
    var names: [Agent: (row: Int64, name: String)] = [:]
    for place in AuditArea.all(of: subject, visibleTo: reader) {
      // Rows that aren't filed yet are in no index by action.
      let sources: [SQL] = [
        """
        \(place.filed) AND x.audit_id >= \(first) AND x.audit_id <= \(filedTo)
          AND x.action_group = \(AuditAction.factorRemove.prefix) AND x.filed = 1
        """,
        "audit x WHERE x.audit_id >= \(max(first, filedTo + 1))\(place.checked)",
      ]
      for source in sources {
        let rows = try connection.all(
          """
          SELECT x.audit_id, x.at, x.actor_kind, x.actor_id, x.actor_name, x.reason, \(isErased)
          FROM \(source) AND \(what)
          """
        ) { row in
          let entry: Int64 = try row.next()
          let at: Instant = try row.next()
          let kind = Actor.Kind(rawValue: try row.next()) ?? .server
          let isUser = kind == .user || kind == .visitor
          let (id, name): (String, String) = (try row.next(), try row.next())
          let reason = (try row.next() as String?).flatMap { SupportReason(rawValue: $0) }
          return (
            agent: Agent(
              reason: reason, isReasonErased: try row.next(), kind: isUser ? .user : kind,
              id: isUser ? "" : id),
            row: entry, at: at, name: isUser ? "" : name
          )
        }
        for row in rows {
          times[row.agent, default: []].append(row.at)
          if row.row > names[row.agent]?.row ?? 0 { names[row.agent] = (row.row, row.name) }
        }
      }
    }
    func order(_ count: RemovalCount) -> Int {
      let last = SupportReason.allCases.count + (count.isReasonErased ? 1 : 0)
      return count.reason.flatMap(SupportReason.allCases.firstIndex) ?? last
    }
    return times.map { agent, times in
      RemovalCount(
        reason: agent.reason, isReasonErased: agent.isReasonErased, agentKind: agent.kind,
        agentID: agent.id, agentName: names[agent]?.name ?? "", times: times)
    }.sorted { one, other in
      (-one.count, order(one), one.agentName, one.agentID)
        < (-other.count, order(other), other.agentName, other.agentID)
    }
  }
}

private enum AuditArea: Hashable {
  case everywhere
  case project(ID<Project>)
  case pool(ID<Project>, ID<Tenant>?)

  /// The parts that a report is about, none of which contains another.
  static func all(of subject: ReportSubject, visibleTo reader: Administrator) -> Set<AuditArea> {
    switch subject {
    case .pool(let pool): return [.pool(pool.project, pool.tenant)]
    case .project(let pool): return [.project(pool.project)]
    case .instance:
      let places = Set(
        reader.grants.filter { $0.role.permissions.contains(Report.removals.permission) }.map {
          grant -> AuditArea in
          guard let project = grant.project else { return .everywhere }
          return grant.tenant.map { .pool(project, $0) } ?? .project(project)
        })
      return places.filter { $0 == .everywhere || !places.contains(.everywhere) }.filter {
        guard case .pool(let project, _) = $0 else { return true }
        return !places.contains(.project(project))
      }
    }
  }

  /// The filed rows, which an index by action resolves.
  var filed: SQL {
    switch self {
    case .everywhere: "audit x \(index: "audit_filed_of_all_by_action") WHERE TRUE"
    case .project(let project):
      """
      scope s \(SQL.orderedJoin) audit x \(index: "audit_filed_by_action")
        ON x.project_id = s.project_id AND x.tenant_id = s.tenant_id
      WHERE s.project_id = \(project)
      """
    case .pool(let project, let tenant):
      """
      audit x \(index: "audit_filed_by_action")
      WHERE x.project_id = \(project) AND x.tenant_id = \(tenant?.text ?? "")
      """
    }
  }

  /// The condition checked on each row that isn't filed.
  var checked: SQL {
    switch self {
    case .everywhere: ""
    case .project(let project): " AND x.project_id || '' = \(project)"
    case .pool(let project, let tenant):
      """
       AND x.project_id || '' = \(project) AND x.tenant_id || '' = \(tenant?.text ?? "")
      """
    }
  }
}
