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
  /// Whether this server sends the text messages.
  let carriesText: Bool
  let smsLimits: SMSLimits
  /// How many text messages the limits refused since the start.
  let smsRejections = SMSRejections()

  init(
    keys: KeyRing, random: RandomSource, links: ActionLinks, writer: any MailWriter,
    carriesMail: Bool = false, carriesText: Bool = false, smsLimits: SMSLimits = SMSLimits()
  ) throws(CryptoError) {
    sealer = try Sealer(keys, purpose: "outbox", random: random)
    self.random = random
    self.links = links
    self.writer = writer
    self.carriesMail = carriesMail
    self.carriesText = carriesText
    self.smsLimits = smsLimits
  }

  func carries(_ channel: OutboxEntry.Channel) -> Bool {
    channel == .mail ? carriesMail : carriesText
  }

  func written(_ content: MailContent, for locale: String? = nil) -> WrittenMail {
    writer.write(content, in: writer.language(for: locale))
  }

  /// Adds a message in the transaction of the change it reports; returns the message's ID.
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

/// An email or text message to a user, before it's added to the outbox.
struct OutboxMessage {
  typealias Channel = OutboxEntry.Channel

  let channel: Channel
  /// The purpose, such as `verify-email`, which administrators see instead of the text.
  let purpose: String
  /// An email address, or a phone number in E.164 format.
  let recipient: String
  /// The language of the text, such as `de` or `pt-BR`.
  let language: String
  /// The subject of an email; empty for a text message.
  let subject: String
  let body: String
  /// The sender of an email; nil for the server's default.
  var sender: EmailSender?
  /// When the message expires; it isn't sent after that.
  let expiresAt: Instant
  /// The administrator whom it's for; nil for a user.
  var reader: Reader?
  /// The user whom a message to an administrator names, or the deleted user whom it was sent to, so
  /// that it's erased with them.
  var about: ID<Account>?

  struct Reader {
    let id: ID<Administrator>
    /// What they must be allowed to do when it's sent; nil for a message about themselves.
    let requirement: ReaderRequirement?

    init(id: ID<Administrator>, permission: Permission? = nil) {
      self.init(id: id, requirement: permission.map { .permission($0) })
    }

    init(id: ID<Administrator>, requirement: ReaderRequirement?) {
      (self.id, self.requirement) = (id, requirement)
    }
  }
}

extension OutboxMessage {
  /// The recipient's address is stored in lowercase, as messages are searched.
  init(
    purpose: String, recipient: String, text: WrittenMail, from sender: EmailSender? = nil,
    expiresAt: Instant, to reader: Reader? = nil, about: ID<Account>? = nil
  ) {
    self.init(
      channel: .mail, purpose: purpose, recipient: AccountRules.folded(email: recipient),
      language: text.language, subject: text.subject, body: text.body, sender: sender,
      expiresAt: expiresAt, reader: reader, about: about)
  }

  /// Whether it's sent before other messages: someone waits for a code or a link, which expires soon,
  /// or it warns of a change that may not be the recipient's.
  func isUrgent(at now: Instant) -> Bool {
    expiresAt < now.advanced(bySeconds: Outbox.noticeLifetime) || isAlert
  }

  /// Whether it's an alert: a message to an administrator, or about what someone with a user's session
  /// can do.
  ///
  /// Of those, one cause can't create thousands.
  private var isAlert: Bool {
    reader != nil || UserNotice.Kind(rawValue: purpose)?.isAlert == true
      || OutOfBandCode.Kind.allCases.contains { $0.isAlert && $0.purpose.rawValue == purpose }
  }
}

/// What an administrator must be allowed to do when a message is sent to them.
enum ReaderRequirement {
  /// They have a permission in the pool of the message.
  case permission(Permission)
  /// They have a permission on the instance, whose messages are listed in a pool as well.
  case instancePermission(Permission)

  private static let instance = "instance"

  /// The text of the column: the name of the permission in the pool, or a code with the name of the
  /// permission on the instance.
  var stored: String {
    switch self {
    case .permission(let permission): permission.rawValue
    case .instancePermission(let permission):
      StoredCode(Self.instance, [permission.rawValue]).text
    }
  }

  /// Reads the column of a message; nil if this version doesn't know it.
  init?(stored: String) {
    if let permission = Permission(rawValue: stored) {
      self = .permission(permission)
      return
    }
    guard let code = StoredCode(stored), code.code == Self.instance, code.values.count == 1,
      let permission = Permission(rawValue: code.values[0])
    else { return nil }
    self = .instancePermission(permission)
  }

  func isMet(by administrator: Administrator, in pool: Pool) -> Bool {
    switch self {
    case .permission(let permission): administrator.may(permission, in: pool)
    case .instancePermission(let permission): administrator.may(permission, in: nil)
    }
  }
}

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
  /// Messages that a clock that was ahead put off are due again. Returns true if there may be more.
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
