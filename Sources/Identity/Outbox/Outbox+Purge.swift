import Database

extension Outbox {
  /// The number of seconds that a message is kept after it expires.
  static let memory: Int64 = 30 * 86_400

  /// Deletes the text of a message, so that it's no longer due.
  static func wipe(
    _ key: Int64, of pool: Int64, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE outbox SET sealed_text = NULL, next_try_at = NULL
      WHERE scope_key = \(pool) AND message_id = \(key)
      """)
  }

  /// Makes pending messages of a channel due whose next attempt is after a time, a limited number.
  @discardableResult
  static func makeDue(
    _ channel: OutboxEntry.Channel, after end: Instant, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    try connection.run(
      """
      UPDATE outbox SET next_try_at = \(now)
      WHERE (scope_key, message_id) IN (SELECT scope_key, message_id FROM outbox
        WHERE channel = \(channel) AND next_try_at > \(end)
        LIMIT \(CleanupLimit.rows))
      """)
  }

  /// Stores the UID of a deleted account on its remaining messages, so that they're erased with the
  /// user's data.
  static func markDeleted(_ account: Account, _ connection: borrowing Connection) throws {
    try connection.run(
      "UPDATE outbox SET about_uid = \(account.id) WHERE account_key = \(account.key)")
  }

  static func recipients(
    ofDeleted uid: String, in pool: Pool, _ connection: borrowing Connection
  ) throws -> [String] {
    try connection.all(
      """
      SELECT recipient FROM outbox \(index: "outbox_about")
      WHERE scope_key = \(pool.key) AND about_uid = \(uid) AND administrator_id IS NULL
      """
    ) { try $0.next() }
  }

  /// Deletes the texts of expired messages and old messages, a limited number at a time.
  ///
  /// Messages that a clock that was ahead put off are due again.
  ///
  /// - Returns: True if there may be more.
  static func purgeExpired(
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    let latest = Instant.latestEnd(of: Deliveries.longestWait, at: now)
    var most = 0
    for channel in [OutboxEntry.Channel.mail, .sms] {
      most = max(most, try makeDue(channel, after: latest, at: now, connection))
    }
    let wiped = try connection.run(
      """
      UPDATE outbox SET sealed_text = NULL, next_try_at = NULL
      WHERE (scope_key, message_id) IN (SELECT scope_key, message_id FROM outbox
        WHERE sealed_text IS NOT NULL AND expires_at <= \(now)
        LIMIT \(CleanupLimit.rows))
      """)
    let oldest = now.advanced(bySeconds: -memory)
    let hasMore = try connection.deletePart(
      "FROM outbox WHERE expires_at < \(oldest)", of: "outbox",
      by: "scope_key, message_id")
    return hasMore || max(most, wiped) == CleanupLimit.rows
  }
}
