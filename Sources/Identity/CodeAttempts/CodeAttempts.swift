import Database
import OTP

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
