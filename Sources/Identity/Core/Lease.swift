import Database

/// A lease on a task that only one process may do at a time.
struct Lease: Sendable {
  let name: String
  let holder: String
  /// How long the task is held after each renewal, in seconds.
  let length: Int64

  /// The maximum difference between the clocks of servers on one database, in seconds.
  static let tolerance: Int64 = 60

  /// Takes or renews the lease, in the transaction of the work that it guards.
  ///
  /// A lease that ends later than any that's taken now is from a clock that was set back, or, if
  /// several servers use the database, from a clock that's a little ahead.
  ///
  /// - Returns: False if another process holds it.
  func take(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let until = now.advanced(bySeconds: length)
    let tolerance = connection.dialect.sharesDatabase ? Self.tolerance : 0
    let latest = now.advanced(bySeconds: length + tolerance)
    let changed = try connection.run(
      """
      INSERT INTO lease (name, holder, until) VALUES (\(name), \(holder), \(until))
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE lease.holder = excluded.holder OR lease.until <= \(now)
        OR lease.until > \(latest)
      """)
    return changed > 0
  }

  func end(_ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM lease WHERE name = \(name) AND holder = \(holder)")
  }
}
