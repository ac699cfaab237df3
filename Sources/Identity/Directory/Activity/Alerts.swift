public import Database
import Text

/// Unusual activity across the users of a pool, which no single account shows.
public struct Alert: Sendable, Equatable {
  /// What is unusual; the raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable, SQLConvertible {
    /// Incorrect codes for many users at once: someone may be guessing one code for each.
    case spraying
    /// The codes of most users are off in the same direction: the server's clock may be wrong.
    case drift
    /// Many more users than usual lost second factors.
    case removals
    /// As many text messages as may be sent on a day, in all or to one region.
    case textMessages = "text-messages"
  }

  public let pool: Pool
  public let kind: Kind
  public let startedAt: Instant
  public let lastSeenAt: Instant
  /// The largest count so far: users, users who lost second factors in an hour, or text messages on a day.
  public let count: Int

  static let columns: SQL = """
    \(Pool.columns), l.kind, l.started_at, l.last_seen_at, l.count
    """

  init(_ row: inout Row) throws {
    pool = try Pool(&row)
    kind = try row.next()
    startedAt = try row.next()
    lastSeenAt = try row.next()
    count = try row.next()
  }
}

public enum AlertThreshold {
  /// The period in which incorrect codes count as one attack, in seconds.
  public static let sprayingPeriod: Int64 = 600
  /// The smallest number of users with an incorrect code; fewer mistype in ten minutes anyway.
  public static let leastSprayed = 10
  /// One of this many enrolled users must have an incorrect code in a large pool.
  public static let enrolledPerSprayed = 200
  /// The period in which offsets are compared, in seconds.
  public static let driftPeriod: Int64 = 3_600
  public static let leastDrifting = 20
  /// The smallest median offset, in 30-second intervals.
  public static let leastOffset = 1
  /// The period in which removals are counted, in seconds.
  public static let removalPeriod: Int64 = 3_600
  /// The number of users with removals in an hour that's never unusual.
  public static let usualRemovals = 5
  /// How many times the usual number of removals is unusual.
  public static let removalFactor = 5
  /// The period that determines the usual number of removals in an hour, in days.
  public static let removalDays = 30
  /// How long nothing unusual may be seen until an alert ends, in seconds.
  public static let quietPeriod: Int64 = 1_800

  /// Returns the number of users with an incorrect code within ten minutes that is unusual.
  public static func sprayed(ofEnrolled users: Int) -> Int {
    max(leastSprayed, (users + enrolledPerSprayed - 1) / enrolledPerSprayed)
  }

  /// Returns true if the offsets of distinct users' codes have a median that isn't near 0.
  static func isDrift(_ offsets: [Int]) -> Bool {
    guard offsets.count >= leastDrifting else { return false }
    let sorted = offsets.sorted()
    let doubledMedian = sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]
    return abs(doubledMedian) >= 2 * leastOffset
  }

  /// Returns true if a number of users with removals in the last hour is unusual, given the number
  /// in the thirty days before, in which each user counts once a day.
  static func isUnusual(removals: Int, after before: Int) -> Bool {
    removals > usualRemovals && removals * removalDays * 24 > removalFactor * before
  }
}

public struct Alerts: Sendable {
  let store: Store

  /// The number of days for which an alert is kept after its end.
  static let daysKept: Int64 = 90

  public func ongoing(in pool: Pool) async throws -> [Alert] {
    try await store.read { connection in
      try connection.all(
        """
        SELECT \(Alert.columns) FROM alert l \(index: "alert_ongoing")
          \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE l.scope_key = \(pool.key) AND l.ended_at IS NULL ORDER BY l.kind
        """
      ) { try Alert(&$0) }
    }
  }

  public func ongoing(
    visibleTo administrator: Administrator, limit: Int
  ) async throws -> [Alert] {
    guard !administrator.grants.isEmpty else { return [] }
    let restriction = administrator.restriction
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(Alert.columns) FROM alert l \(index: "alert_ongoing")
          \(SQL.orderedJoin) scope s USING (scope_key)
          \(SQL.orderedJoin) project p USING (project_id)
        WHERE l.scope_key > 0 AND l.ended_at IS NULL AND s.deleted_at IS NULL
          \(restriction)
        ORDER BY l.scope_key, l.kind LIMIT \(limit)
        """
      ) { try Alert(&$0) }
    }
  }
}

extension Alerts {
  /// The number of pools read at a time.
  private static let share = 500
  /// The maximum number of code attempts that one check of a pool reads.
  private static let mostAttempts = 100_000
  /// The maximum number of findings recorded in one transaction, each with emails to owners.
  private static let mostRecorded = 50

  private struct Finding {
    let pool: Pool
    let kind: Alert.Kind
    let count: Int
  }

  /// Looks for unusual activity in all pools: begins and continues alerts, ends those that are
  /// over, and emails the owners once for each new alert.
  ///
  /// Call it about every minute.
  func watch() async throws {
    let now = store.clock.now()
    var findings: [Finding] = []
    var last: Int64? = 0
    while let key = last {
      let part = try await store.read { try look(after: key, at: now, $0) }
      findings += part.findings
      last = part.last
    }
    let isDue = try await store.read { connection in
      try connection.first(
        "SELECT EXISTS (SELECT 1 FROM alert WHERE scope_key > 0)"
      ) { try $0.next() as Bool } ?? false
    }
    guard isDue || !findings.isEmpty else { return }
    var rest = findings[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.mostRecorded)
      rest = rest.dropFirst(part.count)
      try await store.write { connection in
        for finding in part { try record(finding, at: now, connection) }
      }
    }
    try await store.write { try Self.end(at: now, $0) }
  }

  /// - Returns: What is unusual in them, and the last pool; nil if there are no more.
  private func look(
    after key: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> (findings: [Finding], last: Int64?) {
    let pools = try connection.all(
      """
      SELECT \(Pool.columns), \(AccountCounts.current("enrolled_users")) FROM scope s
        \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.scope_key > \(key) AND s.deleted_at IS NULL ORDER BY s.scope_key LIMIT \(Self.share)
      """
    ) { (pool: try Pool(&$0), enrolled: try $0.next() as Int) }
    let hour = now.advanced(bySeconds: -AlertThreshold.removalPeriod)
    let firstRow = try Audit.firstRow(since: hour, connection)
    var findings: [Finding] = []
    for (pool, enrolled) in pools {
      func add(_ kind: Alert.Kind, _ count: Int?) {
        if let count { findings.append(Finding(pool: pool, kind: kind, count: count)) }
      }
      add(.spraying, try Self.sprayed(pool, enrolled: enrolled, at: now, connection))
      add(.drift, try Self.drifting(pool, at: now, connection))
      add(.removals, try Self.removals(pool, since: firstRow, at: now, connection))
      add(.textMessages, try store.outbox.smsLimits.reached(in: pool, at: now, connection))
    }
    return (findings, pools.count == Self.share ? pools.last?.pool.key : nil)
  }

  /// Returns the number of users with an incorrect code; nil if it isn't unusual.
  private static func sprayed(
    _ pool: Pool, enrolled: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    let since = now.advanced(bySeconds: -AlertThreshold.sprayingPeriod)
    var accounts: Set<Int64> = []
    for way in [CodeAttempt.Way.app, .phone] {
      let part = try connection.all(
        """
        SELECT account_key FROM code_attempt \(index: "code_attempt_by_result")
        WHERE scope_key = \(pool.key) AND result = \(CodeAttempt.Result.wrong)
          AND result <> 'accepted' AND way = \(way) AND at > \(since)
          AND at <= \(Instant.latest(at: now))
        LIMIT \(mostAttempts)
        """
      ) { try $0.next() as Int64 }
      accounts.formUnion(part)
    }
    let isUnusual = accounts.count >= AlertThreshold.sprayed(ofEnrolled: enrolled)
    return isUnusual ? accounts.count : nil
  }

  /// Returns the number of users whose codes were compared; nil if their median isn't unusual.
  ///
  /// Near misses are compared too: if the clock is off by more than the window, no code is accepted.
  private static func drifting(
    _ pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    let since = now.advanced(bySeconds: -AlertThreshold.driftPeriod)
    let codes = try connection.all(
      """
      SELECT account_key, distance FROM code_attempt
      WHERE scope_key = \(pool.key) AND at > \(since)
        AND at <= \(Instant.latest(at: now))
        AND way || '' = 'app' AND distance IS NOT NULL
      ORDER BY at DESC, account_key DESC LIMIT \(mostAttempts)
      """
    ) { (account: try $0.next() as Int64, distance: try $0.next() as Int) }
    // One code of each user counts, the newest.
    let offsets = Dictionary(codes.map { ($0.account, $0.distance) }) { newest, _ in newest }
    return AlertThreshold.isDrift(Array(offsets.values)) ? offsets.count : nil
  }

  /// Returns the number of users who lost second factors in the last hour; nil if it isn't unusual.
  ///
  /// Users' own removals are compared with their own, so that they don't hide those by others.
  private static func removals(
    _ pool: Pool, since firstRow: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    let hour = now.advanced(bySeconds: -AlertThreshold.removalPeriod)
    let start = hour.advanced(bySeconds: -Int64(AlertThreshold.removalDays) * 86_400)
    var most: Int?
    for actions in [[AuditAction.factorWithdraw], [.factorRemove, .factorRemoveAll]] {
      let users = try removed(by: actions, pool, from: firstRow, hour, to: now, connection)
      guard AlertThreshold.isUnusual(removals: users, after: 0) else { continue }
      let row = try Audit.firstRow(since: start, connection)
      let before = try removed(by: actions, pool, from: row, start, to: hour, connection)
      if AlertThreshold.isUnusual(removals: users, after: before) {
        most = max(users, most ?? 0)
      }
    }
    return most
  }

  /// Returns the number of users who lost second factors in a period.
  ///
  /// A user counts once in each 24 hours before the end.
  private static func removed(
    by actions: [AuditAction], _ pool: Pool, from row: Int64, _ start: Instant, to end: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    let removals = try connection.all(
      """
      SELECT object_id, at FROM audit \(index: "audit_filed_by_action")
      WHERE project_id = \(pool.project) AND tenant_id = \(pool.tenant?.text ?? "")
        AND action_group = 'factor' AND filed = 1 AND audit_id >= \(row)
        AND action IN (\(SQL.list(actions)))
        AND at > \(start) AND at <= \(end)
      """
    ) { row in
      (user: UntrustedText(try row.next()), before: end.microseconds - (try row.next()))
    }
    return Dictionary(grouping: removals) { $0.before / 86_400_000_000 }.values
      .reduce(0) { count, day in count + Set(day.map { $0.user }).count }
  }

  private func record(
    _ finding: Finding, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let (pool, kind) = (finding.pool, finding.kind)
    let continued = try connection.run(
      """
      UPDATE alert SET last_seen_at = \(now),
        count = \(SQL.greatest)(count, \(finding.count))
      WHERE scope_key = \(pool.key) AND kind = \(kind) AND ended_at IS NULL
      """)
    guard continued == 0 else { return }
    try connection.run(
      """
      INSERT INTO alert (alert_id, scope_key, kind, started_at, last_seen_at, count)
      VALUES (\(SQL.nextNumber("alert_id", of: "alert")), \(pool.key), \(kind),
        \(now), \(now), \(finding.count))
      """)
    let mail = AlertMail(
      pool: pool, kind: kind, count: finding.count, at: now, link: store.links.overview(of: pool))
    try store.outbox.notifyOwners(.activity, .alert(mail), of: pool, at: now, connection)
  }

  private static func end(at now: Instant, _ connection: borrowing Connection) throws {
    let quiet = now.advanced(bySeconds: -AlertThreshold.quietPeriod)
    try connection.run(
      """
      UPDATE alert SET ended_at = \(now)
      WHERE scope_key > 0 AND ended_at IS NULL AND last_seen_at <= \(quiet)
      """)
    let oldest = now.advanced(bySeconds: -daysKept * 86_400)
    try connection.run(
      "DELETE FROM alert WHERE ended_at IS NOT NULL AND ended_at < \(oldest)")
  }
}

extension Identity {
  /// Looks for unusual activity in all pools, for what an upgrade changed, and every hour for users
  /// without a way to sign in; does nothing while the clock isn't trusted.
  public func watchActivity() async throws {
    guard clockGuard.doubt == nil else { return }
    try await FormerMFAValues.report(store)
    try await alerts.watch()
    try await pools.countLeftOutside()
  }
}
