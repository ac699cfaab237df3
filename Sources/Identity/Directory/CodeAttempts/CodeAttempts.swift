import Database
import OTP
import Synchronization

public struct CodeAttempts: Sendable {
  let store: Store
  let aged = Position()

  /// The number of code attempts shown on a user's page.
  public static let shown = 20

  /// Lists an account's code attempts, newest first.
  ///
  /// - Returns: A page, empty if the cursor refers to a deleted attempt.
  public func list(
    _ account: Account, after: String? = nil, limit: Int = Self.shown
  ) async throws -> Page<CodeAttempt> {
    let place = after.map { Int64($0) } ?? account.lastCodeAttemptAt
    guard let place else { return Page(items: [], next: nil) }
    return try await store.read { connection in
      try Self.list(account, from: place, limit: limit, connection)
    }
  }

  static func list(
    _ account: Account, from place: Int64, limit: Int, _ connection: borrowing Connection
  ) throws -> Page<CodeAttempt> {
    let limit = Page<CodeAttempt>.size(limit)
    let found = try Self.chain(of: account, from: place, limit: limit + 1, connection)
    // The next page's first attempt was read, so the cursor points to it; attempts further on may
    // be deleted.
    let next = found.count > limit ? found[limit].at.microseconds : nil
    return Page(items: Array(found.prefix(limit)), next: next.map { String($0) })
  }

  /// Reads an account's code attempts starting at one of them, newest first.
  private static func chain(
    of account: Account, from place: Int64, limit: Int, _ connection: borrowing Connection
  ) throws -> [CodeAttempt] {
    let (pool, key) = (account.poolKey, account.key)
    // For many users the newest attempt is enough, and it costs a third of reading the chain.
    let newest = try connection.first(
      """
      SELECT \(CodeAttempt.columns), previous FROM code_attempt
      WHERE scope_key = \(pool) AND at = \(place) AND account_key = \(key)
      """
    ) { row in
      (
        codeAttempt: try CodeAttempt(&row),
        previous: try row.next() as Int64?
      )
    }
    guard let newest else { return [] }
    guard let previous = newest.previous, limit > 1 else { return [newest.codeAttempt] }
    let earlier = try connection.all(
      """
      \(CodeAttempt.chain(of: key, in: pool, from: previous))
      SELECT \(CodeAttempt.columns) FROM chain LIMIT \(limit - 1)
      """
    ) { try CodeAttempt(&$0) }
    return [newest.codeAttempt] + earlier
  }
}

extension CodeAttempt {
  static let columns: SQL = """
    at, way, result, enrollment_id, intervals, distance, step, confirmed, times, address, user_agent
    """

  /// Begins a statement with a table `chain` of an account's attempts starting at one of them,
  /// newest first, which has ``columns`` and `previous`.
  static func chain(of account: Int64, in pool: Int64, from place: Int64) -> SQL {
    """
    WITH RECURSIVE chain (\(columns), previous) AS (
      SELECT \(columns), previous FROM code_attempt
      WHERE scope_key = \(pool) AND at = \(place) AND account_key = \(account)
      UNION ALL
      SELECT v.at, v.way, v.result, v.enrollment_id, v.intervals, v.distance, v.step, v.confirmed,
        v.times, v.address, v.user_agent, v.previous
      FROM chain \(SQL.orderedJoin) code_attempt v
        ON v.scope_key = \(pool) AND v.at = chain.previous AND v.account_key = \(account)
    )
    """
  }

  init(_ row: inout Row) throws {
    at = try row.next()
    let (way, result): (Way, Result) = (try row.next(), try row.next())
    self.way = way
    self.result = result
    enrollment = try row.next()
    window = (try row.next() as Int?).flatMap(Window.init(adjacentIntervals:))
    distance = try row.next()
    step = try row.next()
    isConfirmed = try row.next()
    times = try row.next()
    origin = RequestOrigin(address: try row.next(), userAgent: try row.next())
  }
}

extension CodeAttempts {
  /// The last pool whose code attempts were looked at.
  ///
  /// It's only in memory: another server, or this one after a restart, starts with the first pool.
  final class Position: Sendable {
    private let key = Mutex<Int64>(0)

    var last: Int64 {
      get { key.withLock { $0 } }
      set { key.withLock { $0 = newValue } }
    }
  }

  /// The maximum number of pools with old code attempts per run.
  static let mostPools = 100
  /// The maximum number of pools that a run looks at.
  static let mostSeen = 1_000
  /// The maximum number of transactions per pool and run.
  static let mostParts = 20

  /// Deletes code attempts past their pool's retention in the next pools; ``Activity`` has counted
  /// them.
  ///
  /// Call it periodically, and again while it returns true.
  public func age() async throws -> Bool { try await age(atMost: Self.mostPools) }

  func age(atMost most: Int) async throws -> Bool {
    let now = store.clock.now()
    let position = aged.last
    let (due, last) = try await store.read { connection in
      try Self.due(after: position, atMost: most, at: now, connection)
    }
    var isMore = last != nil
    for (pool, end) in due {
      let isFull = try await store.run(
        { _, connection in try Self.age(pool, before: end, connection) },
        atMost: Self.mostParts, at: now)
      if isFull { isMore = true }
    }
    aged.last = last ?? 0
    return isMore
  }

  /// Returns the next pools with code attempts past their retention, with the cutoff time.
  ///
  /// Only whole days are deleted, so a list never ends within a day.
  ///
  /// - Returns: The pools, and the last one that was looked at; nil if there are no more.
  private static func due(
    after position: Int64, atMost most: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> (due: [(pool: Int64, end: Instant)], last: Int64?) {
    var due: [(pool: Int64, end: Instant)] = []
    var last = position
    for _ in 0..<mostSeen where due.count < most {
      let oldest = try connection.first(
        """
        SELECT scope_key, at FROM code_attempt WHERE scope_key > \(last)
        ORDER BY scope_key, at LIMIT 1
        """
      ) { row in (pool: try row.next() as Int64, at: try row.next() as Instant) }
      guard let oldest else { return (due, nil) }
      last = oldest.pool
      let pool = try connection.first(
        """
        SELECT \(Pool.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.scope_key = \(oldest.pool) AND s.deleted_at IS NULL
        """
      ) { try Pool(&$0) }
      guard let pool else { continue }
      let days = try SupportRules.find(pool, connection).codeAttemptDays
      let end = Instant(seconds: (now.day - Int64(days)) * 86_400)
      if oldest.at < end { due.append((oldest.pool, end)) }
    }
    return (due, last)
  }

  private static func age(
    _ pool: Int64, before end: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let part = try connection.all(
      """
      SELECT at, account_key FROM code_attempt
      WHERE scope_key = \(pool) AND at < \(end)
      ORDER BY at, account_key LIMIT \(CleanupLimit.rows)
      """
    ) { row in (at: try row.next() as Int64, account: try row.next() as Int64) }
    guard let last = part.last else { return false }
    try connection.run(
      """
      DELETE FROM code_attempt
      WHERE scope_key = \(pool) AND (at, account_key) <= (\(last.at), \(last.account))
      """)
    return part.count == CleanupLimit.rows
  }
}
