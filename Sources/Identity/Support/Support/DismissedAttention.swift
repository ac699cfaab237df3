import Database

/// What can need attention; the raw value is the stored name.
public enum AttentionKind: String, CaseIterable, Sendable {
  case clock, damage, auditFault, breakGlass, tasksNotHeld, droppedSettings, policyFile
  case unreadable, reported, spraying, removals, signInOff, leftOutside, lockedOut
  case drift, textMessages, heldAgent, weakened, turnedOff, fileDrift, off, wide, methods
  case overdue, late, unsent
  case connectionPaused, connectionFailing, changedElsewhere, changeUnknown
  case unstated, phonesOff, differing, unreviewed, unverified, neverOn, stale

  /// How bad it is, worst first.
  public enum Severity: Int, Sendable {
    case critical, warning, notice
  }

  public var severity: Severity {
    switch self {
    case .clock, .damage, .auditFault, .breakGlass, .tasksNotHeld, .unreadable, .reported,
      .spraying, .removals, .signInOff, .leftOutside, .lockedOut, .connectionPaused,
      .changeUnknown:
      .critical
    case .droppedSettings, .policyFile, .drift, .textMessages, .heldAgent, .weakened, .turnedOff,
      .fileDrift, .off, .wide, .methods, .overdue, .late, .unsent, .connectionFailing,
      .changedElsewhere:
      .warning
    case .unstated, .phonesOff, .differing, .unreviewed, .unverified, .neverOn, .stale: .notice
    }
  }
}

/// What needs attention in one place for one reason, in the state in which an administrator saw it.
public struct AttentionMark: Hashable, Sendable {
  public let kind: AttentionKind
  /// The project; nil for the instance.
  public let project: ID<Project>?
  public let tenant: ID<Tenant>?
  /// When the newest part of it began, in microseconds; 0 if that isn't known.
  private var began: Int64 = 0
  private var number: Int64 = 0

  /// Creates a mark without a state.
  public init(_ kind: AttentionKind, project: ID<Project>?, tenant: ID<Tenant>?) {
    (self.kind, self.project, self.tenant) = (kind, project, tenant)
  }

  /// Parses what a form sends; nil if it's malformed.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, text.utf8.count <= 500, let kind = AttentionKind(rawValue: parts[0])
    else { return nil }
    let state = parts[3].split(separator: ".", omittingEmptySubsequences: false)
    guard state.count == 2, let began = Int64(state[0]), let number = Int64(state[1]) else {
      return nil
    }
    self.init(kind, project: ID(nonEmpty: parts[1]), tenant: ID(nonEmpty: parts[2]))
    (self.began, self.number) = (began, number)
  }

  /// Adds a part to the state: when it began, and its number, such as of users.
  public mutating func add(at: Instant?, number: Int64) {
    began = max(began, at?.microseconds ?? 0)
    self.number &+= number
  }

  fileprivate var state: String { "\(began).\(number)" }

  public var text: String {
    "\(kind.rawValue)/\(project?.text ?? "")/\(tenant?.text ?? "")/\(state)"
  }
}

/// What administrators dismissed from what needs attention, each for themselves.
public struct DismissedAttention: Sendable {
  let store: Store

  /// How long it's dismissed, in days.
  public static let days: Int64 = 30
  /// The maximum number that's kept for an administrator, of which one more replaces the oldest.
  static let most = 200

  /// Returns what an administrator dismissed, and until when: all of it, or what's about a pool or
  /// the instance.
  public func all(
    of administrator: Administrator, in pool: Pool? = nil
  ) async throws -> [AttentionMark: Instant] {
    let only: SQL = pool.map { "AND d.scope_key IN (0, \($0.key))" } ?? ""
    return try await store.read { now, connection in
      let rows = try connection.all(
        """
        SELECT d.kind, coalesce(s.project_id, ''), coalesce(s.tenant_id, ''), d.state, d.until
        FROM dismissed_attention d LEFT JOIN scope s ON s.scope_key = d.scope_key
        WHERE d.administrator_id = \(administrator.id) AND d.until > \(now) \(only)
        """
      ) { row in
        let parts = try (0..<4).map { _ in try row.next() as String }
        return (mark: AttentionMark(parts.joined(separator: "/")), until: try row.next() as Instant)
      }
      return rows.reduce(into: [:]) { all, row in
        if let mark = row.mark { all[mark] = row.until }
      }
    }
  }

  /// Dismisses something that isn't critical until it changes, at most for ``days``; `isUndo` shows it
  /// again.
  ///
  /// - Returns: Until when.
  /// - Throws: ``ActionDenial/notAllowed`` for what's critical.
  @discardableResult
  public func set(
    _ mark: AttentionMark, isUndo: Bool = false, _ request: ActionRequest
  ) async throws -> Instant {
    guard mark.kind.severity != .critical else { throw ActionDenial.notAllowed }
    let target =
      mark.project.map { ActionTarget(project: $0, tenant: mark.tenant) } ?? ActionTarget(pools: [])
    return try await store.run(.dismissAttention, by: .console(request), in: target) {
      context, connection in
      var pool: Pool?
      if let project = mark.project {
        do {
          pool = try Pools.find(project: project, tenant: mark.tenant, connection)
        } catch is PoolLookupError {
          throw CallError.notFound
        }
      }
      let (agent, key) = (request.agent.administrator.id, pool?.key ?? 0)
      let until = context.now.advanced(bySeconds: Self.days * 86_400)
      let oldest: SQL =
        isUndo
        ? ""
        : """
        OR until = (SELECT CASE WHEN count(*) >= \(Self.most) THEN min(o.until) END
          FROM dismissed_attention o WHERE o.administrator_id = \(agent)
            AND NOT (o.scope_key = \(key) AND o.kind = \(mark.kind.rawValue)))
        """
      try connection.run(
        """
        DELETE FROM dismissed_attention WHERE administrator_id = \(agent)
          AND (until <= \(context.now) OR scope_key = \(key) AND kind = \(mark.kind.rawValue)
            \(oldest))
        """)
      if !isUndo {
        try connection.run(
          """
          INSERT INTO dismissed_attention (administrator_id, scope_key, kind, state, until)
          VALUES (\(agent), \(key), \(mark.kind.rawValue), \(mark.state), \(until))
          """)
      }
      var entry = AuditEntry(isUndo ? .attentionRestore : .attentionDismiss, of: pool)
      entry.add(.attention, .code(mark.kind.rawValue))
      if !isUndo { entry.add(.expiresAt, .instant(until)) }
      try context.record(entry, connection)
      return until
    }.value
  }
}
