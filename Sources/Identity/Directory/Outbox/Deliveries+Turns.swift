import Database
import Synchronization

extension Deliveries {
  /// The messages of a channel that take turns between pools.
  struct Lane: Hashable {
    let channel: OutboxEntry.Channel
    /// Whether they're sent before the others (``OutboxMessage/isUrgent(at:)``).
    let isUrgent: Bool
  }

  /// The last pools whose messages were claimed.
  ///
  /// They're only in memory: another server, or this one after a restart, starts with the first pool.
  final class Turns: Sendable {
    private let last = Mutex<[Lane: Int64]>([:])

    subscript(_ lane: Lane) -> Int64 {
      get { last.withLock { $0[lane] ?? 0 } }
      set { last.withLock { $0[lane] = newValue } }
    }
  }

  /// The maximum number of pools that one claim looks at: while a mail server refuses all emails, each
  /// pool can have some that wait for another attempt.
  static let mostPools = 20

  /// Leases the message of a lane whose turn it is: the one of the next pool that has been due the
  /// longest.
  ///
  /// The messages of one pool, however many, don't delay those of others.
  func claim(
    _ lane: Lane, _ lease: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> (pool: Int64, key: Int64)? {
    let next = try Self.next(lane, after: turns[lane], at: now, connection)
    turns[lane] = next.last
    let pool: SQL = next.isDue ? "AND scope_key = \(next.last)" : ""
    return try connection.first(
      """
      UPDATE outbox SET next_try_at = \(now.advanced(bySeconds: lease)),
        tries = tries + 1
      WHERE (scope_key, message_id) = (SELECT scope_key, message_id FROM outbox
        WHERE channel = \(lane.channel) AND is_urgent = \(lane.isUrgent ? 1 : 0)
          AND next_try_at <= \(now) \(pool)
        ORDER BY next_try_at LIMIT 1)
      RETURNING scope_key, message_id
      """
    ) { (try $0.next(), try $0.next()) }
  }

  /// Returns the last pool that was looked at, and whether it has a message that is due.
  private static func next(
    _ lane: Lane, after start: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> (last: Int64, isDue: Bool) {
    var last = start
    for _ in 0..<mostPools {
      let first = try connection.first(
        """
        SELECT scope_key, next_try_at FROM outbox \(index: "outbox_turns")
        WHERE channel = \(lane.channel) AND is_urgent = \(lane.isUrgent ? 1 : 0)
          AND scope_key > \(last) AND next_try_at IS NOT NULL
        ORDER BY scope_key, next_try_at LIMIT 1
        """
      ) { row in (pool: try row.next() as Int64, at: try row.next() as Instant) }
      if let first, first.at <= now { return (first.pool, true) }
      // After the last pool, it's the turn of the first one.
      guard first != nil || last > 0 else { break }
      last = first?.pool ?? 0
    }
    return (last, false)
  }
}
