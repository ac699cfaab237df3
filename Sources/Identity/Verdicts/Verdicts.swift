import Database
import OTP

/// What became of the codes that users gave.
public struct Verdicts: Sendable {
  let store: Store

  /// How many verdicts a page shows.
  public static let shown = 20

  /// The last verdicts of an account, the newest first.
  ///
  /// - Throws: ``AccountError/unavailable(_:)``.
  public func latest(_ account: Account) async throws(AccountError) -> [CodeVerdict] {
    guard account.lastVerdictAt != nil else { return [] }
    return try await store.read(AccountError.self) { connection in
      try Self.latest(account, limit: Self.shown, connection)
    }
  }

  static func latest(
    _ account: Account, limit: Int, _ connection: borrowing Connection
  ) throws -> [CodeVerdict] {
    let (scope, key) = (account.key >> 40, account.key)
    // The newest alone is enough for many users, and costs a third of what a chain costs.
    let newest = try connection.first(
      """
      SELECT \(CodeVerdict.columns), previous FROM verdict
      WHERE scope_key = \(scope) AND at = \(account.lastVerdictAt) AND account_key = \(key)
      """
    ) { row in
      (verdict: try CodeVerdict(row), previous: try row.value(CodeVerdict.columnCount) as Int64?)
    }
    guard let newest else { return [] }
    guard let previous = newest.previous, limit > 1 else { return [newest.verdict] }
    let earlier = try connection.all(
      """
      WITH RECURSIVE chain (\(CodeVerdict.columns), previous) AS (
        SELECT \(CodeVerdict.columns), previous FROM verdict
        WHERE scope_key = \(scope) AND at = \(previous) AND account_key = \(key)
        UNION ALL
        SELECT v.at, v.way, v.result, v.enrolment_id, v.intervals, v.distance, v.step, v.confirmed,
          v.times, v.address, v.user_agent, v.previous
        FROM chain CROSS JOIN verdict v
        WHERE v.scope_key = \(scope) AND v.at = chain.previous AND v.account_key = \(key)
      )
      SELECT \(CodeVerdict.columns) FROM chain LIMIT \(limit - 1)
      """
    ) { try CodeVerdict($0) }
    return [newest.verdict] + earlier
  }
}

extension CodeVerdict {
  static let columns: SQL = """
    at, way, result, enrolment_id, intervals, distance, step, confirmed, times, address, user_agent
    """
  static let columnCount = 11

  init(_ row: borrowing Row) throws {
    at = Instant(microseconds: try row.value(0))
    guard let way = Way(rawValue: try row.value(1)), let result = Result(rawValue: try row.value(2))
    else { throw Failure("unknown verdict") }
    self.way = way
    self.result = result
    enrolment = (try row.value(3) as String?).map { ID($0) }
    window = (try row.value(4) as Int?).flatMap(Window.init(adjacentIntervals:))
    distance = try row.value(5)
    step = try row.value(6)
    isConfirmed = try row.value(7)
    times = try row.value(8)
    origin = RequestOrigin(address: try row.value(9), userAgent: try row.value(10))
  }
}
