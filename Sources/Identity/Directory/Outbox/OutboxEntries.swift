public import Database
import Text

/// A message to a user, without its text.
public struct OutboxEntry: Sendable {
  public enum Channel: String, Sendable, SQLConvertible {
    case mail
    case sms
  }

  public enum State: Sendable, Equatable {
    /// It's waiting for its next attempt or, on a server that doesn't send it, to be read.
    case waiting
    /// A server accepted it.
    case sent(Instant)
    /// Delivery failed permanently.
    case failed(Instant)
    case expired
    /// It was deleted by the restore of a backup.
    case withdrawn
  }

  public let id: Int64
  public let channel: Channel
  public let purpose: String
  /// An email address, or a phone number.
  public let recipient: String
  /// The account it's about; nil if there's none, or if it was deleted.
  public let account: ID<Account>?
  public let createdAt: Instant
  public let expiresAt: Instant
  public let tries: Int
  public let nextTryAt: Instant?
  public let lastError: DeliveryProblem?
  public let state: State

  static let columns: SQL = """
    o.message_id, o.channel, o.purpose, o.recipient, a.uid, o.created_at, o.expires_at, o.tries,
      o.next_try_at, o.last_error, o.sent_at, o.failed_at, o.sealed_text IS NOT NULL
    """

  init(_ row: inout Row, at now: Instant) throws {
    id = try row.next()
    channel = try row.next()
    purpose = try row.next()
    recipient = try row.next()
    account = try row.next()
    createdAt = try row.next()
    expiresAt = try row.next()
    tries = try row.next()
    nextTryAt = try row.next()
    lastError = (try row.next() as String?).map { DeliveryProblem(stored: $0) }
    let (sentAt, failedAt): (Instant?, Instant?) = (try row.next(), try row.next())
    let hasText: Bool = try row.next()
    if let sentAt {
      state = .sent(sentAt)
    } else if let failedAt {
      state = .failed(failedAt)
    } else {
      state =
        hasText && expiresAt > now ? .waiting : lastError == .restored ? .withdrawn : .expired
    }
  }
}

public enum MessageFilter: String, CaseIterable, Sendable {
  case all
  case waiting
  case failed
}

public struct MessageCounts: Sendable {
  private var waiting: [OutboxEntry.Channel: Int] = [:]
  private var late: [OutboxEntry.Channel: Int] = [:]
  /// Whether all messages were counted.
  public let isWhole: Bool

  init(_ messages: [(channel: OutboxEntry.Channel, tries: Int)]) {
    isWhole = messages.count < OutboxEntries.mostCounted
    for message in messages {
      waiting[message.channel, default: 0] += 1
      if message.tries >= 3 { late[message.channel, default: 0] += 1 }
    }
  }

  public func waiting(by channel: OutboxEntry.Channel) -> Int { waiting[channel] ?? 0 }

  /// Returns the number of waiting messages of a channel with at least three failed attempts.
  public func late(by channel: OutboxEntry.Channel) -> Int { late[channel] ?? 0 }
}

public struct MessageText: Sendable {
  /// The subject; empty for a text message.
  public let subject: String
  /// The body as plain text.
  public let body: String
}

public struct OutboxEntries: Sendable {
  let store: Store
  /// Whether this server sends the emails, so that their text is never shown.
  public var carriesMail: Bool { store.outbox.carriesMail }
  public var carriesText: Bool { store.outbox.carries(.sms) }

  public static let mostCounted = 1_000

  /// Lists the messages of a pool, newest first.
  ///
  /// `after` is the key of the previous page; nil for the first page.
  public func list(
    _ pool: Pool, _ filter: MessageFilter = .all, to recipient: String? = nil,
    after: String? = nil, limit: Int = 50
  ) async throws -> Page<OutboxEntry> {
    let now = store.clock.now()
    let limit = Page<OutboxEntry>.size(limit)
    let before = after.flatMap { Int64($0) } ?? Int64.max
    var condition: SQL = "o.scope_key = \(pool.key) AND o.message_id < \(before)"
    // Without statistics, SQLite can choose the key, and so all messages, for every filter.
    var index: SQL = ""
    switch filter {
    case .all: break
    case .waiting:
      index = .index("outbox_waiting")
      condition += " AND o.sealed_text IS NOT NULL AND o.expires_at > \(now)"
    case .failed:
      index = .index("outbox_failed")
      condition += " AND o.failed_at IS NOT NULL"
    }
    if let recipient {
      index = .index("outbox_by_recipient")
      // Email addresses are stored in lowercase, like those of accounts.
      condition += " AND o.recipient = \(AccountRules.folded(email: recipient))"
    }
    let (chosen, chosenIndex) = (condition, index)
    return try await store.read { connection in
      let messages = try connection.all(
        """
        SELECT \(OutboxEntry.columns) FROM outbox o \(chosenIndex)
          LEFT JOIN account a ON a.account_key = o.account_key
        WHERE \(chosen) ORDER BY o.message_id DESC LIMIT \(limit + 1)
        """
      ) { try OutboxEntry(&$0, at: now) }
      return Page(messages, limit: limit) { String($0.id) }
    }
  }

  /// Lists the newest messages about an account, newest first.
  static func list(
    about account: Account, limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> [OutboxEntry] {
    try connection.all(
      """
      SELECT \(OutboxEntry.columns) FROM outbox o \(index: "outbox_by_account")
        LEFT JOIN account a ON a.account_key = o.account_key
      WHERE o.account_key = \(account.key) ORDER BY o.message_id DESC LIMIT \(limit)
      """
    ) { try OutboxEntry(&$0, at: now) }
  }

  public func find(_ pool: Pool, _ id: Int64) async throws -> OutboxEntry {
    let now = store.clock.now()
    return try await store.read { connection in
      try Self.find(pool, id, at: now, connection)
    }
  }

  private static func find(
    _ pool: Pool, _ id: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws -> OutboxEntry {
    let found = try connection.first(
      """
      SELECT \(OutboxEntry.columns) FROM outbox o LEFT JOIN account a ON a.account_key = o.account_key
      WHERE o.message_id = \(id) AND o.scope_key = \(pool.key)
      """
    ) { try OutboxEntry(&$0, at: now) }
    guard let found else { throw CallError.notFound }
    return found
  }

  /// Counts the waiting messages, up to ``mostCounted``.
  public func counts(_ pool: Pool) async throws -> MessageCounts {
    let now = store.clock.now()
    return try await store.read { connection in
      let messages = try connection.all(
        """
        SELECT channel, tries FROM outbox \(index: "outbox_waiting")
        WHERE scope_key = \(pool.key) AND sealed_text IS NOT NULL
          AND expires_at > \(now)
        LIMIT \(Self.mostCounted)
        """
      ) { row in
        (
          channel: try row.next() as OutboxEntry.Channel, tries: try row.next() as Int
        )
      }
      return MessageCounts(messages)
    }
  }

  /// Whether administrators with the permission can view the text of a message.
  ///
  /// A message that this server sends is only for its recipient.
  public func isReadable(_ message: OutboxEntry) -> Bool {
    message.state == .waiting && !store.outbox.carries(message.channel)
  }

  /// Opens a message and records it in the audit log, because a link in it can give access to the
  /// account.
  public func open(
    _ pool: Pool, _ id: Int64, by caller: Caller
  ) async throws -> ActionOutcome<MessageText> {
    let outbox = store.outbox
    return try await store.run(.openMessage, by: caller, in: ActionTarget(pool)) {
      context, connection in
      let now = context.now
      let message = try Self.find(pool, id, at: now, connection)
      guard isReadable(message) else { throw OutboxError.notReadable }
      let stored = try connection.first(
        """
        SELECT sealed_text FROM outbox
        WHERE scope_key = \(pool.key) AND message_id = \(id)
        """
      ) { try $0.next() as [UInt8]? }
      guard let sealed = stored ?? nil else { throw OutboxError.notReadable }
      let text = try StoredSecret(.message, .message, String(id), in: pool).opening {
        try outbox.open(sealed, recipient: message.recipient, createdAt: message.createdAt)
      }
      var entry = AuditEntry(
        .messageRead, .message, String(id), name: message.recipient, in: pool)
      entry.add(.message, .code(message.purpose))
      try context.record(entry, connection)
      return text
    }
  }
}

/// Why an attempt to deliver an email failed, or none was made.
public enum DeliveryProblem: Sendable, Equatable {
  case undecryptable
  case invalidRecipient
  /// A backup from before it was sent, or not sent, was restored.
  case restored
  /// The value of this header field can't be sent.
  case invalidField(String)
  /// The mail server's response quoted the email and isn't stored; its reply code.
  case quoted(code: String)
  /// The mail server's response, or text that an earlier version stored.
  case response(String)

  var stored: String {
    switch self {
    case .undecryptable: StoredCode("undecryptable").text
    case .restored: StoredCode("restored").text
    case .invalidRecipient: StoredCode("invalid-recipient").text
    case .invalidField(let name): StoredCode("invalid-field", [name]).text
    case .quoted(let code): StoredCode("quoted", [code]).text
    // A response can't imitate a code.
    case .response(let text): StoredCode(text) == nil ? text : StoredCode("response", [text]).text
    }
  }

  init(stored text: String) {
    let stored = StoredCode(text)
    let first = stored?.values.first ?? ""
    self =
      switch stored?.code {
      case "undecryptable": .undecryptable
      case "restored": .restored
      case "invalid-recipient": .invalidRecipient
      case "invalid-field": .invalidField(first)
      case "quoted": .quoted(code: first)
      case "response": .response(first)
      default: .response(text)
      }
  }
}

extension MessageText {
  /// The body as HTML: a paragraph for each block, and a link for each line that is one.
  var html: String {
    body.split(separator: "\n", omittingEmptySubsequences: false)
      .split { $0.allSatisfy(\.isWhitespace) }
      .map { "<p>\($0.map(Self.html).joined(separator: "<br>"))</p>\n" }.joined()
  }

  /// Returns a line, as a link if it's the address of a website.
  private static func html(_ line: Substring) -> String {
    let text = String(line).escapedForHTML
    let isLink =
      line.utf8.allSatisfy { $0 > 0x20 }
      && ["https://", "http://"].contains { line.hasPrefix($0) }
    return isLink ? "<a href=\"\(text)\">\(text)</a>" : text
  }

  /// The HTML as a separate document, readable in light and dark color schemes, which loads
  /// nothing.
  func document(in language: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="\((language.isEmpty ? "en" : language).escapedForHTML)" dir="auto">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <meta name="format-detection" content="telephone=no">
    <title>\(subject.escapedForHTML)</title>
    <style>:root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:38em;margin:1em}\
    a{overflow-wrap:anywhere}</style>
    </head>
    <body>
    \(html)
    </body>
    </html>

    """
  }
}
