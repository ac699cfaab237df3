import Crypto
import Database

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

  /// Whether this server sends the messages of a channel.
  func carries(_ channel: OutboxEntry.Channel) -> Bool {
    channel == .mail ? carriesMail : smsLimits != nil
  }

  /// Writes a message in the language for a preferred locale.
  func written(_ content: MailContent, for locale: String? = nil) -> WrittenMail {
    writer.write(content, in: writer.language(for: locale))
  }

  /// Adds a message in the transaction of the change it reports.
  ///
  /// - Returns: The message's ID.
  @discardableResult
  func add(
    _ message: OutboxMessage, to account: Account?, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int64 {
    let mark = message.isHTML ? Self.htmlMark : ""
    let text = Array("\(message.subject)\(mark)\n\(message.body)".utf8)
    let sealed = try sealer.seal(text, with: Self.associated(message.recipient, now))
    let id: Int64? = try connection.first(
      """
      INSERT INTO outbox (scope_key, account_key, channel, purpose, recipient, language,
        sealed_text, created_at, expires_at, next_try_at)
      VALUES (\(scope.key), \(account?.key), \(message.channel.rawValue), \(message.purpose),
        \(message.recipient), \(message.language), \(sealed), \(now.microseconds),
        \(message.expiresAt.microseconds),
        \(message.channel == .mail || carries(.sms) ? now.microseconds : nil))
      RETURNING message_id
      """
    ) { try $0.value(0) }
    guard let id else { throw Failure("a message without a number") }
    return id
  }

  /// Decrypts the subject and body of a message.
  func open(
    _ sealed: [UInt8], recipient: String, createdAt: Instant
  ) throws -> MessageText {
    let secret = try sealer.open(sealed, with: Self.associated(recipient, createdAt))
    let bytes = secret.revealedBytes
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let subject = String(decoding: bytes[..<end], as: UTF8.self)
    let isHTML = subject.hasSuffix(Self.htmlMark)
    return MessageText(
      subject: isHTML ? String(subject.dropLast(Self.htmlMark.count)) : subject,
      body: String(decoding: bytes.dropFirst(end + 1), as: UTF8.self), isHTML: isHTML)
  }

  /// The suffix of the stored subject if the body is HTML; subjects never contain it.
  private static let htmlMark = "\u{1}html"

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
    let rows = try connection.all(
      """
      SELECT o.message_id, o.sealed_text, o.recipient, o.created_at, s.project_id, s.tenant_id
      FROM outbox o CROSS JOIN scope s ON s.scope_key = o.scope_key
      WHERE o.message_id > \(Int64(position) ?? 0) ORDER BY o.message_id LIMIT \(limit)
      """
    ) { row in
      (
        id: try row.value(0) as Int64, sealed: try row.value(1) as [UInt8]?,
        associated: Self.associated(
          try row.value(2), Instant(microseconds: try row.value(3))),
        secret: StoredSecret.message(
          try row.value(0), project: try row.value(4), tenant: try row.value(5))
      )
    }
    var part = ResealedPart()
    for row in rows {
      part.read(String(row.id))
      guard let sealed = row.sealed,
        let box = try row.secret.opening({ try sealer.resealed(sealed, with: row.associated) })
      else { continue }
      try connection.run("UPDATE outbox SET sealed_text = \(box) WHERE message_id = \(row.id)")
      part.changed += 1
    }
    return part
  }
}
