import Database

/// Counts what may happen only so often within an hour, by the name of what is limited.
enum HourlyQuota {
  private static let window: Int64 = 3_600

  /// Counts one more.
  ///
  /// - Parameters:
  ///   - name: What is limited.
  ///   - amount: How many at once.
  ///   - limit: How many there may be within an hour of the first.
  ///   - now: The time.
  ///   - connection: The transaction; when it is rolled back, nothing was counted.
  /// - Returns: Nil when it is within the limit, and otherwise when one may try again.
  /// - Throws: What the database throws.
  static func take(
    _ name: String, _ amount: Int = 1, limit: Int, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let row = try connection.first(
      "SELECT failures, expires_at FROM throttle WHERE name = \(name)"
    ) { row in (count: try row.value(0) as Int, end: Instant(microseconds: try row.value(1))) }
    let current = row.flatMap { $0.end > now ? $0 : nil }
    if let current, current.count + amount > limit { return current.end }
    let end = current?.end ?? now.advanced(bySeconds: window)
    let count = (current?.count ?? 0) + amount
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name), \(count), 0, \(end.microseconds))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = 0, expires_at = excluded.expires_at
      """)
    return nil
  }
}
