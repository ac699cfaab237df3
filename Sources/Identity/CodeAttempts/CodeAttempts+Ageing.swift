import Database

extension CodeAttempts {
  /// The maximum number of code attempts aggregated and deleted per transaction.
  static let share = 500
  /// The maximum number of user pools per run.
  static let mostScopes = 100

  /// Aggregates code attempts past their pool's retention by day, result, and distance, and deletes
  /// them, one batch per pool.
  ///
  /// Call it periodically, and again while it returns true.
  ///
  /// - Returns: True if there may be more.
  /// - Throws: ``StartError/unavailable(_:)``.
  public func age() async throws(StartError) -> Bool {
    let now = store.clock.now()
    let due = try await store.read(StartError.self) { connection in
      try Self.due(at: now, connection)
    }
    for (scope, end) in due {
      try await store.write(StartError.self) { connection in
        try Self.age(scope, before: end, connection)
      }
    }
    return !due.isEmpty
  }

  /// Returns the user pools with code attempts past their retention, with the cutoff time.
  ///
  /// Only whole days are aggregated, so all attempts of a day are treated the same way.
  private static func due(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> [(scope: Int64, end: Instant)] {
    var due: [(scope: Int64, end: Instant)] = []
    var last: Int64 = 0
    while due.count < mostScopes {
      let oldest = try connection.first(
        """
        SELECT scope_key, at FROM code_attempt WHERE scope_key > \(last)
        ORDER BY scope_key, at LIMIT 1
        """
      ) { row in (scope: try row.value(0) as Int64, at: try row.value(1) as Int64) }
      guard let oldest else { break }
      last = oldest.scope
      let scope = try connection.first(
        """
        SELECT \(Scope.columns) FROM scope s JOIN project p USING (project_id)
        WHERE s.scope_key = \(oldest.scope) AND s.deleted_at IS NULL
        """
      ) { try Scope($0) }
      guard let scope else { continue }
      let days = try SupportRules.find(scope, connection).codeAttemptDays
      let end = Instant(seconds: (now.day - Int64(days)) * 86_400)
      if oldest.at < end.microseconds { due.append((oldest.scope, end)) }
    }
    return due
  }

  private struct Kind: Hashable {
    let day: Int64
    let result: String
    let distance: Int
  }

  private static func age(
    _ scope: Int64, before end: Instant, _ connection: borrowing Connection
  ) throws {
    let rows = try connection.all(
      """
      SELECT at, account_key, result, distance, confirmed, times FROM code_attempt
      WHERE scope_key = \(scope) AND at < \(end.microseconds)
      ORDER BY at, account_key LIMIT \(share)
      """
    ) { row in
      (
        at: try row.value(0) as Int64, account: try row.value(1) as Int64,
        kind: try kind(row), times: try row.value(5) as Int
      )
    }
    guard let last = rows.last else { return }
    var counts: [Kind: Int] = [:]
    for row in rows { counts[row.kind, default: 0] += row.times }
    for (kind, count) in counts {
      try connection.run(
        """
        INSERT INTO code_attempt_count (scope_key, day, result, distance, count)
        VALUES (\(scope), \(kind.day), \(kind.result), \(kind.distance), \(count))
        ON CONFLICT (scope_key, day, result, distance) DO UPDATE SET count = count + \(count)
        """)
    }
    try connection.run(
      """
      DELETE FROM code_attempt
      WHERE scope_key = \(scope) AND (at, account_key) <= (\(last.at), \(last.account))
      """)
  }

  /// Returns how an attempt is aggregated: an unconfirmed near miss counts as an incorrect code,
  /// because guesses produce near misses too.
  private static func kind(_ row: borrowing Row) throws -> Kind {
    let day = Instant(microseconds: try row.value(0)).day
    let result: String = try row.value(2)
    let isNear =
      result == CodeAttempt.Result.late.rawValue
      || result == CodeAttempt.Result.early.rawValue
    if isNear, try !row.value(4) {
      return Kind(day: day, result: CodeAttempt.Result.wrong.rawValue, distance: 0)
    }
    return Kind(day: day, result: result, distance: try row.value(3) as Int? ?? 0)
  }
}
