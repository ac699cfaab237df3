import Database
import OTP

/// How verdicts are written: as a chain through the verdicts of one account, in the order of time.
enum CodeAttemptRecord {
  /// Whose code it was, what for and from where.
  struct Place {
    let scope: Int64
    let account: Int64
    let way: CodeAttempt.Way
    let enrollment: String?
    let intervals: Int?
    let origin: RequestOrigin
  }

  /// How soon a right code must follow a near miss to show that it was no guess, in seconds.
  static let soon: Int64 = 900
  /// How many verdicts before a right code are looked at for near misses.
  private static let mostConfirmed = 20

  /// Writes a verdict; ``CodeAttemptRecorder`` keeps the account's `last_code_attempt_at`.
  ///
  /// - Returns: When it was, as it is kept: later than the one before, in whatever moment it came.
  static func insert(
    _ finding: CodeFinding, _ place: Place, after previous: Int64?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let at = max(now.microseconds, (previous ?? now.microseconds - 1) + 1)
    try connection.run(
      """
      INSERT INTO code_attempt (scope_key, at, account_key, previous, way, result, enrollment_id,
        intervals, distance, step, address, user_agent)
      VALUES (\(place.scope), \(at), \(place.account), \(previous), \(place.way.rawValue),
        \(finding.result.rawValue), \(place.enrollment), \(place.intervals),
        \(finding.distance), \(finding.step), \(place.origin.address),
        \(place.origin.userAgent))
      """)
    return at
  }

  /// Counts one more code that counts for nothing, when the last verdict is such a one too, of the
  /// factor when one is given.
  ///
  /// So nobody fills the disk with codes that are not even looked at, are too late, or are of a
  /// suspended factor.
  ///
  /// - Returns: False when there is none.
  static func repeated(
    _ result: CodeAttempt.Result, of account: Account, in scope: Scope,
    factor: ID<Factor>? = nil, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let last = account.lastCodeAttemptAt else { return false }
    return try connection.run(
      """
      UPDATE code_attempt SET times = times + 1
      WHERE scope_key = \(scope.key) AND at = \(last) AND account_key = \(account.key)
        AND result = \(result.rawValue)
        AND (\(factor?.text) IS NULL OR enrollment_id = \(factor?.text))
      """) == 1
  }

  /// Marks the near misses that a right code followed soon.
  static func confirmNearMisses(
    of account: Account, in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let first = now.advanced(bySeconds: -soon).microseconds
    var next = account.lastCodeAttemptAt
    for _ in 0..<min(account.wrongCodes, mostConfirmed) {
      guard let at = next, at >= first else { return }
      let row = try connection.first(
        """
        SELECT previous, result FROM code_attempt
        WHERE scope_key = \(scope.key) AND at = \(at) AND account_key = \(account.key)
        """
      ) { row in (previous: try row.value(0) as Int64?, result: try row.value(1) as String) }
      guard let row else { return }
      if [CodeAttempt.Result.late.rawValue, CodeAttempt.Result.early.rawValue].contains(row.result)
      {
        try connection.run(
          """
          UPDATE code_attempt SET confirmed = 1
          WHERE scope_key = \(scope.key) AND at = \(at) AND account_key = \(account.key)
          """)
      }
      next = row.previous
    }
  }

  /// Deletes the verdicts of an account that goes.
  static func delete(
    of account: Account, _ connection: borrowing Connection
  ) throws {
    var next = account.lastCodeAttemptAt
    while let at = next {
      let previous = try connection.first(
        """
        DELETE FROM code_attempt
        WHERE scope_key = \(account.key >> 40) AND at = \(at) AND account_key = \(account.key)
        RETURNING previous
        """
      ) { try $0.value(0) as Int64? }
      next = previous.flatMap { $0 }
    }
  }

  /// Deletes all verdicts of a scope, and what was counted of them.
  static func deleteAll(in scope: Int64, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM code_attempt WHERE scope_key = \(scope)")
    try connection.run("DELETE FROM code_attempt_count WHERE scope_key = \(scope)")
  }
}
