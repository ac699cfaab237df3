import Database
import Text

/// An email address of an account that an administrator marked as bouncing.
///
/// Email to it isn't sent, so that the mail server isn't taken for a sender of spam; the outbox shows
/// what wasn't sent. The mark belongs to the account and the address: it doesn't concern a new
/// address, or another account.
public struct BouncedAddress: Sendable, Equatable {
  /// The address.
  public let address: String
  /// When it was marked.
  public let markedAt: Instant
  /// The name of the administrator who marked it.
  public let markedBy: String

  static func list(
    _ account: Account, _ connection: borrowing Connection
  ) throws -> [BouncedAddress] {
    try connection.all(
      """
      SELECT address, marked_at, marked_by FROM bounced_address
      WHERE account_key = \(account.key) ORDER BY address
      """
    ) { row in
      BouncedAddress(
        address: try row.value(0), markedAt: Instant(microseconds: try row.value(1)),
        markedBy: try row.value(2))
    }
  }

  static func has(
    _ account: Account, _ address: String, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM bounced_address
      WHERE account_key = \(account.key) AND address = \(address)
      """
    ) { _ in true } ?? false
  }

  static func insert(
    _ account: Account, _ address: String, by name: String, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO bounced_address (account_key, address, marked_at, marked_by)
      VALUES (\(account.key), \(address), \(now.microseconds), \(name))
      """)
  }

  static func delete(
    _ account: Account, _ address: String, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      DELETE FROM bounced_address WHERE account_key = \(account.key) AND address = \(address)
      """)
  }
}

extension Account {
  /// Returns the email addresses that aren't marked as bouncing.
  public func addresses(without marked: [BouncedAddress]) -> [String] {
    addresses.filter { address in !marked.contains { $0.address.isSameBytes(as: address) } }
  }
}

extension Outbox {
  /// Whether a message is an email to an address of the account that's marked as bouncing.
  func isBouncing(
    _ message: OutboxMessage, of account: Account?, _ connection: borrowing Connection
  ) throws -> Bool {
    guard message.channel == .mail, let account else { return false }
    return try BouncedAddress.has(account, message.recipient, connection)
  }

  /// Records an email that isn't sent because its address bounces; its text isn't kept.
  func addUnsent(
    _ message: OutboxMessage, to account: Account?, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let id: Int64? = try connection.first(
      """
      INSERT INTO outbox (message_id, scope_key, account_key, channel, purpose, recipient,
        language, created_at, expires_at, failed_at, last_error)
      VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(scope.key), \(account?.key),
        \(message.channel.rawValue), \(message.purpose),
        \(message.recipient), \(message.language), \(now.microseconds),
        \(message.expiresAt.microseconds), \(now.microseconds),
        \(DeliveryProblem.addressBounces.stored))
      RETURNING message_id
      """
    ) { try $0.value(0) }
    guard let id else { throw Failure("a message without a number") }
    return id
  }

  /// Stops the waiting emails to an address of an account.
  static func stop(
    _ account: Account, _ address: String, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE outbox SET failed_at = \(now.microseconds), sealed_text = NULL, sealed_html = NULL,
        next_try_at = NULL, last_error = \(DeliveryProblem.addressBounces.stored)
      WHERE (scope_key, message_id) IN (
        SELECT scope_key, message_id FROM outbox \(index: "outbox_by_account")
        WHERE account_key = \(account.key) AND channel = \(OutboxEntry.Channel.mail.rawValue)
          AND recipient = \(address) AND sealed_text IS NOT NULL)
      """)
  }
}
