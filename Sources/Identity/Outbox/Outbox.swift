import Crypto
import Database
import Text

/// Stores messages to users until they're sent.
///
/// A message is written in the same transaction as the change it reports, so that neither exists
/// without the other. It's sent after the transaction.
struct Outbox: Sendable {
  private let sealer: Sealer
  let random: RandomSource
  let links: ActionLinks
  let writer: any MailWriter
  /// Whether this server sends the emails.
  let carriesMail: Bool
  /// The limits of text messages; nil if this server sends none.
  let smsLimits: SMSLimits?
  /// How many text messages the limits refused since the start.
  let smsRejections = SMSRejections()

  init(
    keys: KeyRing, random: RandomSource, links: ActionLinks, writer: any MailWriter,
    carriesMail: Bool = false, smsLimits: SMSLimits? = nil
  ) throws(CryptoError) {
    sealer = try Sealer(keys, purpose: "outbox", random: random)
    self.random = random
    self.links = links
    self.writer = writer
    self.carriesMail = carriesMail
    self.smsLimits = smsLimits
  }

  func carries(_ channel: OutboxEntry.Channel) -> Bool {
    channel == .mail ? carriesMail : smsLimits != nil
  }

  func written(_ content: MailContent, for locale: String? = nil) -> WrittenMail {
    writer.write(content, in: writer.language(for: locale))
  }

  /// Adds a message in the transaction of the change it reports.
  ///
  /// - Returns: The message's ID.
  @discardableResult
  func add(
    _ message: OutboxMessage, to account: Account?, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let text = Array("\(message.subject)\n\(message.body)".utf8)
    let sealed = try sealer.seal(text, with: Self.associated(message.recipient, now))
    let id: Int64? = try connection.first(
      """
      INSERT INTO outbox (message_id, scope_key, account_key, channel, purpose, recipient,
        language, sealed_text, sender_name, reply_to, created_at, expires_at, next_try_at,
        administrator_id, permission, about_uid, is_urgent)
      VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(pool.key), \(account?.key),
        \(message.channel), \(message.purpose),
        \(message.recipient), \(message.language), \(sealed), \(message.sender?.name),
        \(message.sender?.replyTo), \(now),
        \(message.expiresAt),
        \(message.channel == .mail || carries(.sms) ? now : nil),
        \(message.reader?.id), \(message.reader?.requirement?.stored),
        \(message.about), \(message.isUrgent(at: now) ? 1 : 0))
      RETURNING message_id
      """
    ) { try $0.next() }
    guard let id else { throw Failure("a message without a number") }
    return id
  }

  func open(_ sealed: [UInt8], recipient: String, createdAt: Instant) throws -> MessageText {
    let secret = try sealer.open(sealed, with: Self.associated(recipient, createdAt))
    let bytes = secret.revealedBytes
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    return MessageText(
      subject: String(decoding: bytes[..<end], as: UTF8.self),
      body: String(decoding: bytes.dropFirst(end + 1), as: UTF8.self))
  }

  /// The associated data, which binds an encrypted text to its row: recipient and creation time.
  private static func associated(_ recipient: String, _ createdAt: Instant) -> [UInt8] {
    Array("\(createdAt.microseconds) \(recipient)".utf8)
  }
}

extension Outbox: ReencryptableStore {
  static let name = "outbox"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    let start = PairPosition(position, least: 0 as Int64)
    let rows = try connection.all(
      """
      SELECT o.message_id, o.sealed_text, o.recipient, o.created_at, s.project_id, s.tenant_id,
        o.scope_key
      FROM outbox o \(SQL.orderedJoin) scope s ON s.scope_key = o.scope_key
      WHERE (o.scope_key, o.message_id) > (\(start.first), \(start.second))
      ORDER BY o.scope_key, o.message_id LIMIT \(limit)
      """
    ) { row in
      let id: Int64 = try row.next()
      return (
        id: id, sealed: try row.next() as [UInt8]?, recipient: try row.next() as String,
        createdAt: try row.next() as Instant,
        secret: StoredSecret.message(id, project: try row.next(), tenant: try row.next()),
        pool: try row.next() as Int64
      )
    }
    return try ResealedPart(rows, at: { PairPosition($0.pool, $0.id).text }) { row in
      guard let sealed = row.sealed else { return false }
      let text = try row.secret.opening {
        try sealer.resealed(sealed, with: Self.associated(row.recipient, row.createdAt))
      }
      guard let text else { return false }
      try connection.run(
        """
        UPDATE outbox SET sealed_text = \(text)
        WHERE scope_key = \(row.pool) AND message_id = \(row.id)
        """)
      return true
    }
  }
}
