import Database

enum HourlyQuota {
  private static let window: Int64 = 3_600

  /// Counts an action against a limit.
  ///
  /// The limit is that of an hour that begins with the first action. Rolling the transaction back
  /// undoes the count.
  ///
  /// - Returns: Nil if the action is within the limit, otherwise the time of the next possible
  ///   attempt.
  static func take(
    _ name: CounterName, _ amount: Int = 1, limit: Int, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let current = try current(name, at: now, connection)
    if let current, current.count + amount > limit { return current.end }
    let end = current?.end ?? now.advanced(bySeconds: window)
    let count = (current?.count ?? 0) + amount
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name.text), \(count), 0, \(end))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = 0, expires_at = excluded.expires_at
      """)
    return nil
  }

  /// Returns the time of the next possible action if the limit is reached, without counting one.
  static func exhausted(
    _ name: CounterName, limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    try current(name, at: now, connection).flatMap { $0.count >= limit ? $0.end : nil }
  }

  private static func current(
    _ name: CounterName, at now: Instant, _ connection: borrowing Connection
  ) throws -> (count: Int, end: Instant)? {
    let row = try connection.first(
      "SELECT failures, expires_at FROM throttle WHERE name = \(name.text)"
    ) { row in (count: try row.next() as Int, end: try row.next() as Instant) }
    return row.flatMap { $0.end.pending(for: window, at: now) == nil ? nil : $0 }
  }
}
