import Database

/// A lease on a task that only one process may do at a time.
struct Lease: Sendable {
  let name: String
  /// The process.
  let holder: String
  /// How long the task is held after each renewal, in seconds.
  let length: Int64

  /// Takes or renews the lease, in the transaction of the work that it guards.
  ///
  /// A lease that ends later than any that's taken now is from a clock that was set back.
  ///
  /// - Returns: False if another process holds it.
  func take(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let until = now.advanced(bySeconds: length).microseconds
    let changed = try connection.run(
      """
      INSERT INTO lease (name, holder, until) VALUES (\(name), \(holder), \(until))
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE lease.holder = excluded.holder OR lease.until <= \(now.microseconds)
        OR lease.until > excluded.until
      """)
    return changed > 0
  }

  /// Ends the lease, so that another process needn't wait until it expires.
  func end(_ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM lease WHERE name = \(name) AND holder = \(holder)")
  }
}
