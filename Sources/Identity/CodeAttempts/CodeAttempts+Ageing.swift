import Database

extension CodeAttempts {
  /// The maximum number of code attempts deleted per transaction.
  static let share = 500
  /// The maximum number of user pools per run.
  static let mostScopes = 100

  /// Deletes code attempts past their pool's retention, one batch per pool; ``Activity`` has counted
  /// them.
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
  /// Only whole days are deleted, so a list never ends within a day.
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

  private static func age(
    _ scope: Int64, before end: Instant, _ connection: borrowing Connection
  ) throws {
    let last = try connection.all(
      """
      SELECT at, account_key FROM code_attempt
      WHERE scope_key = \(scope) AND at < \(end.microseconds)
      ORDER BY at, account_key LIMIT \(share)
      """
    ) { row in (at: try row.value(0) as Int64, account: try row.value(1) as Int64) }.last
    guard let last else { return }
    try connection.run(
      """
      DELETE FROM code_attempt
      WHERE scope_key = \(scope) AND (at, account_key) <= (\(last.at), \(last.account))
      """)
  }
}
