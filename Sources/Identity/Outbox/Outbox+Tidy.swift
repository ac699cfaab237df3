import Database

extension Outbox {
  /// How long a message is remembered after it was of use, in seconds.
  static let memory: Int64 = 30 * 86_400

  /// Takes the text of a message away, and with it its place among those that are due.
  static func wipe(_ key: Int64, _ connection: borrowing Connection) throws {
    try connection.run(
      "UPDATE outbox SET sealed_text = NULL, next_try_at = NULL WHERE message_id = \(key)")
  }

  /// Takes the texts away that have run out, and forgets old messages, a share at a time.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      UPDATE outbox SET sealed_text = NULL, next_try_at = NULL
      WHERE message_id IN (SELECT message_id FROM outbox
        WHERE sealed_text IS NOT NULL AND expires_at <= \(now.microseconds)
        LIMIT \(Deliveries.share))
      """)
    let oldest = now.advanced(bySeconds: -memory)
    try connection.run(
      """
      DELETE FROM outbox WHERE message_id IN (SELECT message_id FROM outbox
        WHERE expires_at < \(oldest.microseconds) LIMIT \(Deliveries.share))
      """)
  }
}
