import Crypto
import Database

/// A mail that is due, lent to whoever sends it.
public struct DueMail: Sendable {
  let key: Int64
  /// What it is known by, the same at each try.
  public let id: String
  /// Where it goes.
  public let recipient: String
  /// What it is about.
  public let subject: String
  /// The text.
  public let body: String
  /// Whether the text is HTML.
  public let isHTML: Bool
  /// The language of the text.
  public let language: String
  /// The name of the application that it is from.
  public let application: String
  /// When it was written.
  public let createdAt: Instant
  /// Which try this is, 1 for the first.
  public let attempt: Int
}

/// What became of a mail.
public enum DeliveryResult: Sendable, Equatable {
  /// A server has taken it.
  case sent
  /// Nobody will ever take it; the reason is for administrators.
  case failed(String)
  /// It is tried again later.
  case postponed(String)
}

/// Why the outbox cannot be read or written.
public enum OutboxError: Error, Sendable {
  /// No such message in the scope.
  case notFound
  /// Its text is not to be seen: it has gone out, has run out, or is on its way by mail.
  case notReadable
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension OutboxError: UseCaseError {}

/// Lends mails to whoever sends them, and keeps what became of each.
///
/// A mail is lent by a write that puts its next try behind the lease, and is told of by another
/// write after the server has taken it. So a crash loses none: what was lent and not told of is
/// tried again. Between the server's answer and that second write lies the one moment in which a
/// crash sends a mail twice, with the same id both times.
public struct Deliveries: Sendable {
  let store: Store

  /// How long a mail is lent, in seconds; longer than a try takes.
  static let lease: Int64 = 300
  /// The longest wait between two tries, in seconds.
  static let longestWait: Int64 = 3_600
  /// How many rows a write changes at most.
  static let share = 500

  /// How long to wait after a try, in seconds: a minute, then twice as long each time, up to an
  /// hour.
  static func wait(after attempt: Int) -> Int64 {
    min(60 << Int64(min(max(attempt, 1) - 1, 10)), longestWait)
  }

  /// Makes all that waits due at once, for a server that starts: what an earlier run was sending is
  /// nobody's now, and whoever restarts may have mended what was in the way.
  ///
  /// - Throws: ``OutboxError/unavailable(_:)``.
  public func begin() async throws(OutboxError) {
    let now = store.clock.now()
    var changed = Self.share
    while changed == Self.share {
      changed = try await store.write(OutboxError.self) { connection in
        try connection.run(
          """
          UPDATE outbox SET next_try_at = \(now.microseconds)
          WHERE message_id IN (SELECT message_id FROM outbox
            WHERE next_try_at > \(now.microseconds) LIMIT \(Self.share))
          """)
      }
    }
  }

  /// Lends the mail that has been due for longest; nil when none is.
  ///
  /// - Throws: ``OutboxError/unavailable(_:)``.
  public func claim() async throws(OutboxError) -> DueMail? {
    let now = store.clock.now()
    let isAnyDue = try await store.read(OutboxError.self) { connection in
      try connection.first(
        "SELECT 1 FROM outbox WHERE next_try_at <= \(now.microseconds) LIMIT 1"
      ) { _ in true } ?? false
    }
    guard isAnyDue else { return nil }
    let outbox = store.outbox
    return try await store.write(OutboxError.self) { connection in
      while true {
        guard let row = try Self.lend(at: now, connection) else { return nil }
        guard !row.isDeleted, row.expiresAt > now else {
          try Outbox.wipe(row.key, connection)
          continue
        }
        let text: MessageText
        do {
          text = try row.secret.opening {
            try outbox.open(row.sealed, recipient: row.recipient, createdAt: row.createdAt)
          }
        } catch let unreadable as UnreadableSecret {
          try UnreadableSecrets.record(unreadable, at: now, connection)
          // Sealed with a new master key that this server takes up in a moment: the lease runs out.
          if unreadable.key == nil { try Self.failUnopened(row.key, at: now, connection) }
          continue
        } catch {
          try Self.failUnopened(row.key, at: now, connection)
          continue
        }
        return DueMail(
          key: row.key, id: "\(row.key).\(row.createdAt.microseconds)", recipient: row.recipient,
          subject: text.subject, body: text.body, isHTML: text.isHTML, language: row.language,
          application: row.application, createdAt: row.createdAt, attempt: row.attempt)
      }
    }
  }

  private struct Lent: Sendable {
    let key: Int64
    let recipient: String
    let language: String
    let sealed: [UInt8]
    let createdAt: Instant
    let expiresAt: Instant
    let attempt: Int
    let application: String
    let isDeleted: Bool
    let secret: StoredSecret
  }

  private static func lend(at now: Instant, _ connection: borrowing Connection) throws -> Lent? {
    let key = try connection.first(
      """
      UPDATE outbox SET next_try_at = \(now.advanced(bySeconds: lease).microseconds),
        tries = tries + 1
      WHERE message_id = (SELECT message_id FROM outbox WHERE next_try_at <= \(now.microseconds)
        ORDER BY next_try_at LIMIT 1)
      RETURNING message_id
      """
    ) { try $0.value(0) as Int64 }
    guard let key else { return nil }
    return try connection.first(
      """
      SELECT o.recipient, o.language, o.sealed_text, o.created_at, o.expires_at, o.tries,
        p.display_name, s.deleted_at IS NOT NULL, s.project_id, s.tenant_id
      FROM outbox o JOIN scope s USING (scope_key) JOIN project p USING (project_id)
      WHERE o.message_id = \(key)
      """
    ) { row in
      Lent(
        key: key, recipient: try row.value(0), language: try row.value(1),
        sealed: try row.value(2) ?? [], createdAt: Instant(microseconds: try row.value(3)),
        expiresAt: Instant(microseconds: try row.value(4)), attempt: try row.value(5),
        application: try row.value(6), isDeleted: try row.value(7),
        secret: .message(key, project: try row.value(8), tenant: try row.value(9)))
    }
  }

  /// Keeps what became of a mail; its text goes with its last try.
  ///
  /// - Throws: ``OutboxError/unavailable(_:)``.
  public func record(_ result: DeliveryResult, of mail: DueMail) async throws(OutboxError) {
    let now = store.clock.now()
    try await store.write(OutboxError.self) { connection in
      switch result {
      case .sent:
        try connection.run(
          """
          UPDATE outbox SET sent_at = \(now.microseconds), sealed_text = NULL, next_try_at = NULL,
            last_error = NULL
          WHERE message_id = \(mail.key)
          """)
      case .failed(let reason):
        try Self.fail(mail.key, Self.shown(reason, of: mail), at: now, connection)
      case .postponed(let reason):
        let next = now.advanced(bySeconds: Self.wait(after: mail.attempt))
        try connection.run(
          """
          UPDATE outbox SET next_try_at = \(next.microseconds),
            last_error = \(Self.shown(reason, of: mail))
          WHERE message_id = \(mail.key) AND sealed_text IS NOT NULL
          """)
      }
    }
  }

  private static func failUnopened(
    _ key: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try fail(key, "Its text cannot be opened any more.", at: now, connection)
  }

  private static func fail(
    _ key: Int64, _ reason: String, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE outbox SET failed_at = \(now.microseconds), sealed_text = NULL, next_try_at = NULL,
        last_error = \(reason)
      WHERE message_id = \(key)
      """)
  }

  /// A server's words as they may be kept: those that quote a link or a code of the mail are not,
  /// for the reason is shown to more people than the mail.
  static func shown(_ reason: String, of mail: DueMail) -> String {
    let words = reason.split { !($0.isLetter || $0.isNumber || "-_".contains($0)) }
    let quotes = words.contains { word in
      let mayBeCode = word.count >= 6 && word.contains(where: \.isNumber) || word.count >= 20
      return mayBeCode && mail.body.contains(word) && !mail.recipient.contains(word)
    }
    guard quotes else { return String(reason.prefix(300)) }
    let code = reason.prefix { $0.isNumber }
    return "\(code) The server quoted the mail, so its words are not kept.".trimmed
  }
}
