import Database

/// An email or text message that's due, leased to the sender.
public struct DueMessage: Sendable {
  let pool: Int64
  let key: Int64
  /// The ID of the message, the same for every attempt.
  public let id: String
  public let channel: OutboxEntry.Channel
  /// Its purpose, such as `verify-email`.
  public let purpose: String
  /// An email address, or a phone number in E.164 format.
  public let recipient: String
  /// The subject; empty for a text message.
  public let subject: String
  /// The plain text.
  public let body: String
  /// The HTML of an email, as a document; nil for a text message.
  public let html: String?
  /// The sender's name; nil for the server's default.
  public let senderName: String?
  /// The address for replies; nil for the sender's.
  public let replyTo: String?
  public let language: String
  public let project: String
  /// The tenant; empty for the project's own users.
  public let tenant: String
  public let application: String
  public let createdAt: Instant
  /// The number of this attempt, starting at 1.
  public let attempt: Int
}

public enum DeliveryResult: Sendable, Equatable {
  /// The server accepted it.
  case sent
  /// The server rejected it with this response.
  case failed(String)
  case invalidRecipient
  /// The value of this header field can't be sent.
  case invalidField(String)
  /// It's retried later, after this response or error.
  case postponed(String)
}

public enum OutboxError: Error, Sendable {
  /// Its text can't be viewed: it was sent, has expired, or is sent by this server.
  case notReadable
}

/// Leases messages to the sender and records the result of each attempt.
///
/// One write leases a message by moving its next attempt past the lease; another records the result
/// after the server has accepted it. A crash loses no message: one without a recorded result is
/// retried. Only a crash or a stop between the message and the second write sends a message twice,
/// with the same ID both times.
public struct Deliveries: Sendable {
  let store: Store
  let turns = Turns()

  /// The duration of a lease in seconds; longer than an attempt takes, at the end of which a mail
  /// server may scan the email for ten minutes.
  public static let lease: Int64 = 900
  /// The duration of a lease on a message that's one HTTP request, in seconds: the 30 that a request
  /// takes at most, plus the tolerance for clock differences.
  ///
  /// It's shorter than a code's lifetime, so a code whose sender ended is sent by another in time.
  public static let gatewayLease = 30 + Lease.tolerance
  /// The longest wait between two attempts, in seconds.
  static let longestWait: Int64 = 3_600
  /// The maximum number of messages that can't be sent anymore that one write skips.
  static let mostSkipped = 100

  /// The wait after an attempt, in seconds, doubling each time up to an hour: first a minute for an
  /// email, and 5 seconds for a text message, since a code expires after minutes.
  static func wait(after attempt: Int, of channel: OutboxEntry.Channel) -> Int64 {
    let first: Int64 = channel == .mail ? 60 : 5
    return min(first << Int64(min(max(attempt, 1) - 1, 10)), longestWait)
  }

  /// Makes all pending messages of a channel due immediately when the server starts.
  ///
  /// Leases of an earlier run no longer have a sender, and the restart may have fixed the cause of
  /// failed attempts. If other servers use the database as well, a message that one of them may be
  /// sending now keeps its lease.
  public func begin(
    _ channel: OutboxEntry.Channel = .mail, leasingFor lease: Int64 = lease
  ) async throws {
    let now = store.clock.now()
    let others: Int64 = store.database.dialect.sharesDatabase ? lease + Lease.tolerance : 0
    let end = now.advanced(bySeconds: others)
    var changed = CleanupLimit.rows
    while changed == CleanupLimit.rows {
      changed = try await store.write { connection in
        try Outbox.makeDue(channel, after: end, at: now, connection)
      }
    }
  }

  /// Leases the message of a channel whose turn it is: alerts and what someone waits for first, and the
  /// pools in turn.
  ///
  /// `sending` has the IDs of messages that are being sent, whose leases end early if the clock
  /// jumps ahead: they're renewed.
  public func claim(
    _ channel: OutboxEntry.Channel = .mail, leasingFor lease: Int64 = lease,
    except sending: Set<String> = []
  ) async throws -> DueMessage? {
    let now = store.clock.now()
    let isAnyDue = try await store.read { connection in
      try connection.first(
        """
        SELECT 1 FROM outbox WHERE channel = \(channel) AND is_urgent IN (0, 1)
          AND next_try_at <= \(now) LIMIT 1
        """
      ) { _ in true } ?? false
    }
    guard isAnyDue else { return nil }
    while true {
      let result = try await store.write { connection in
        try claim(channel, leasingFor: lease, except: sending, at: now, connection)
      }
      switch result {
      case .message(let message): return message
      case .none: return nil
      case .unknown: continue
      }
    }
  }

  /// The result of one transaction that looks for a message.
  enum Claim: Sendable {
    case message(DueMessage)
    case none
    /// There may be one after the messages that can't be sent anymore.
    case unknown
  }

  /// Leases the message whose turn it is, and skips a limited number that can't be sent.
  func claim(
    _ channel: OutboxEntry.Channel, leasingFor lease: Int64 = lease, except sending: Set<String>,
    at now: Instant, _ connection: borrowing Connection
  ) throws -> Claim {
    for _ in 0..<Self.mostSkipped {
      guard let row = try claim(channel, lease, at: now, connection) else { return .none }
      if sending.contains(row.id) { continue }
      guard row.expiresAt > now,
        try row.isAboutLostRole || !row.isDeleted && Self.mayRead(row, at: now, connection)
      else {
        try Outbox.wipe(row.key, of: row.pool, connection)
        continue
      }
      let text: MessageText
      do {
        text = try row.secret.opening {
          try store.outbox.open(
            row.sealed, recipient: row.recipient, createdAt: row.createdAt)
        }
      } catch let unreadable as UnreadableSecret {
        try UnreadableSecrets.record(unreadable, at: now, connection)
        // It's encrypted with a new master key that this server hasn't loaded yet. The email is
        // retried when the lease ends.
        if unreadable.key == nil { try Self.failUnopened(row, at: now, connection) }
        continue
      } catch {
        try Self.failUnopened(row, at: now, connection)
        continue
      }
      return .message(DueMessage(row, channel, text))
    }
    return .unknown
  }

  fileprivate struct ClaimedMessage: Sendable {
    let pool: Int64
    let key: Int64
    let recipient: String
    let language: String
    let sealed: [UInt8]
    let createdAt: Instant
    let expiresAt: Instant
    let attempt: Int
    let application: String
    let isDeleted: Bool
    let project: String
    let tenant: String
    let purpose: String
    let senderName: String?
    let replyTo: String?
    /// The administrator whom it's for; nil for a user.
    let reader: String?
    /// What they must be allowed to do, as stored; nil for nothing.
    let requirement: String?

    /// Whether it tells its reader that they lost a role: they may no longer be an administrator, and
    /// the project may be deleted.
    var isAboutLostRole: Bool {
      reader != nil && requirement == nil
        && [.grantRevoked, .grantEnded].contains(MessagePurpose(rawValue: purpose))
    }

    var id: String { "\(key).\(createdAt.microseconds)" }

    var secret: StoredSecret { .message(key, project: project, tenant: tenant) }
  }

  private func claim(
    _ channel: OutboxEntry.Channel, _ lease: Int64, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ClaimedMessage? {
    // Thousands of notices must not delay an alert, or a code that someone waits for.
    guard
      let (pool, key) = try claim(
        Lane(channel: channel, isUrgent: true), lease, at: now, connection)
        ?? claim(Lane(channel: channel, isUrgent: false), lease, at: now, connection)
    else { return nil }
    return try connection.first(
      """
      SELECT o.recipient, o.language, o.sealed_text, o.created_at, o.expires_at, o.tries,
        p.display_name, s.deleted_at IS NOT NULL, s.project_id, s.tenant_id, o.purpose,
        o.sender_name, o.reply_to, o.administrator_id, o.permission
      FROM outbox o JOIN scope s USING (scope_key) JOIN project p USING (project_id)
      WHERE o.scope_key = \(pool) AND o.message_id = \(key)
      """
    ) { row in
      ClaimedMessage(
        pool: pool, key: key, recipient: try row.next(), language: try row.next(),
        sealed: try row.next() ?? [], createdAt: try row.next(), expiresAt: try row.next(),
        attempt: try row.next(), application: try row.next(), isDeleted: try row.next(),
        project: try row.next(), tenant: try row.next(), purpose: try row.next(),
        senderName: try row.next(), replyTo: try row.next(), reader: try row.next(),
        requirement: try row.next())
    }
  }

  /// Returns whether a message to an administrator may still be sent to them: it can have waited for
  /// days, in which they were removed or lost access.
  private static func mayRead(
    _ row: ClaimedMessage, at now: Instant, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let reader = row.reader else { return true }
    guard let administrator = try Administrators.present(ID(reader), at: now, connection) else {
      return false
    }
    guard let text = row.requirement else { return true }
    let tenant = ID<Tenant>(nonEmpty: row.tenant)
    let pool = try Pools.find(project: ID(row.project), tenant: tenant, connection)
    return ReaderRequirement(stored: text)?.isMet(by: administrator, in: pool) ?? false
  }

  /// Records the result of an attempt; the last attempt deletes the text.
  public func record(_ result: DeliveryResult, of mail: DueMessage) async throws {
    let now = store.clock.now()
    try await store.write { connection in
      switch result {
      case .sent:
        try connection.run(
          """
          UPDATE outbox SET sent_at = \(now), sealed_text = NULL,
            next_try_at = NULL, last_error = NULL
          WHERE scope_key = \(mail.pool) AND message_id = \(mail.key)
          """)
      case .invalidRecipient:
        try Self.fail(mail.key, of: mail.pool, .invalidRecipient, at: now, connection)
      case .invalidField(let name):
        try Self.fail(mail.key, of: mail.pool, .invalidField(name), at: now, connection)
      case .failed(let reason):
        try Self.fail(
          mail.key, of: mail.pool, Self.shown(reason, of: mail), at: now, connection)
      case .postponed(let reason):
        let next = now.advanced(bySeconds: Self.wait(after: mail.attempt, of: mail.channel))
        try connection.run(
          """
          UPDATE outbox SET next_try_at = \(next),
            last_error = \(Self.shown(reason, of: mail).stored)
          WHERE scope_key = \(mail.pool) AND message_id = \(mail.key)
            AND sealed_text IS NOT NULL
          """)
      }
    }
  }

  private static func failUnopened(
    _ row: ClaimedMessage, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try fail(row.key, of: row.pool, .undecryptable, at: now, connection)
  }

  private static func fail(
    _ key: Int64, of pool: Int64, _ problem: DeliveryProblem, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE outbox SET failed_at = \(now), sealed_text = NULL,
        next_try_at = NULL, last_error = \(problem.stored)
      WHERE scope_key = \(pool) AND message_id = \(key)
      """)
  }

  /// A mail server's response in a form that's safe to store.
  ///
  /// A response that quotes a link or code from the email is left out, because more people can see
  /// the reason than the email.
  static func shown(_ reason: String, of mail: DueMessage) -> DeliveryProblem {
    // A code can be written in groups of digits.
    let texts = [mail.body, mail.html ?? ""].map(digits)
    let quotesCode = digits(reason).contains { run in
      run.utf8.count >= 6 && texts.contains { $0.contains(run) }
    }
    let words = reason.split { !($0.isLetter || $0.isNumber || "-_".contains($0)) }
    let quotes = words.contains { word in
      let mayBeCode = word.count >= 6 && word.contains(where: \.isNumber) || word.count >= 20
      return mayBeCode && (mail.body.contains(word) || mail.html?.contains(word) == true)
        && !mail.recipient.contains(word)
    }
    guard quotes || quotesCode else { return .response(String(reason.prefix(300))) }
    return .quoted(code: String(reason.prefix { $0.isNumber }))
  }

  /// Returns the runs of digits in a text, without spaces and hyphens between them.
  private static func digits(_ text: String) -> [String] {
    var (runs, run) = ([] as [String], "")
    for character in text where character != " " && character != "-" {
      if character.isNumber {
        run.append(character)
      } else if !run.isEmpty {
        runs.append(run)
        run = ""
      }
    }
    return run.isEmpty ? runs : runs + [run]
  }
}

extension DueMessage {
  fileprivate init(
    _ row: Deliveries.ClaimedMessage, _ channel: OutboxEntry.Channel, _ text: MessageText
  ) {
    (pool, key) = (row.pool, row.key)
    id = row.id
    (self.channel, purpose, recipient) = (channel, row.purpose, row.recipient)
    (subject, body) = (text.subject, text.body)
    html = channel == .mail ? text.document(in: row.language) : nil
    (senderName, replyTo, language) = (row.senderName, row.replyTo, row.language)
    (project, tenant, application) = (row.project, row.tenant, row.application)
    (createdAt, attempt) = (row.createdAt, row.attempt)
  }
}
