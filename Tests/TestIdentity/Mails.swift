import Database
import Testing

@testable import Identity

/// A queued email.
struct Mail: Sendable {
  let purpose: String
  let recipient: String
  let language: String
  let subject: String
  let body: String
  let html: String
  let senderName: String?
  let replyTo: String?

  /// The link in the email.
  var link: String {
    get throws {
      let lines = body.split(separator: "\n").map(String.init)
      return try #require(lines.first { $0.contains("oobCode=") })
    }
  }

  /// The code in the link.
  var code: String { get throws { try #require(parameter("oobCode", of: try link)) } }
}

/// Returns a parameter of a link without decoding it.
func parameter(_ name: String, of link: String) -> String? {
  let query = link.split(separator: "?", maxSplits: 1).last ?? ""
  for pair in query.split(separator: "&") {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.first.map(String.init) == name { return parts.last.map(String.init) }
  }
  return nil
}

extension Instance {
  /// Returns the queued emails, oldest first.
  func mails(_ purpose: String? = nil) async throws -> [Mail] {
    let outbox = identity.store.outbox
    return try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ purpose, recipient, language, sealed_text, created_at, sender_name,
          reply_to
        FROM outbox WHERE channel = 'mail' AND sealed_text IS NOT NULL ORDER BY message_id
        """
      ) { row in
        let purpose: String = try row.next()
        let (recipient, language): (String, String) = (try row.next(), try row.next())
        let text = try outbox.open(
          try row.next(), recipient: recipient, createdAt: try row.next())
        return Mail(
          purpose: purpose, recipient: recipient, language: language, subject: text.subject,
          body: text.body, html: text.html, senderName: try row.next(), replyTo: try row.next())
      }
    }.filter { purpose == nil || $0.purpose == purpose }
  }

  /// Returns the number of stored out-of-band codes.
  func codes() async throws -> Int {
    try await database.read { connection in
      try connection.first("SELECT /* test */ count(*) FROM oob_code") { try $0.next() } ?? 0
    }
  }

  /// Emails an out-of-band code to a user and returns the code in the email.
  func code(
    _ kind: OutOfBandCode.Kind, _ person: Person = .alice, in pool: Pool? = nil,
    newEmail: String? = nil
  ) async throws -> String {
    var request = OutOfBandRequest(kind, for: .email(person.email))
    request.newEmail = newEmail
    _ = try await identity.outOfBandCodes.send(
      request, in: pool ?? acme, hidingUsers: false, from: nil)
    return try #require(try await mails().last).code
  }

  /// Resets a user's password to the same one, with a link to the account's address.
  func reset(_ person: Person) async throws {
    let code = try await code(.passwordReset, person)
    try await identity.outOfBandCodes.resetPassword(code, to: person.password, by: Self.visitor)
  }

  /// Changes the sign-in methods of Acme's project-level pool.
  func allow(password: Bool = true, emailLink: Bool = false) async throws {
    _ = try await identity.pools.update(project: acme.project, by: .program(Self.boss)) { project in
      project.signIn = SignInMethods(password: password, emailLink: emailLink, anonymous: true)
    }
  }
}

extension Instance {
  func write(
    _ channel: OutboxEntry.Channel, copies: Int = 1, in pool: Pool? = nil,
    to recipient: String? = nil, lifetime: Int64 = 86_400, purpose: String = "verify-email",
    body: String = "https://example.com/?oobCode=abc123def456\nsecond line",
    on server: Identity? = nil
  ) async throws {
    let (outbox, now, pool) = ((server ?? identity).store.outbox, now, pool ?? acme)
    let address = recipient ?? (channel == .mail ? Person.alice.email : "+4915112345678")
    try await database.write { connection in
      for _ in 0..<copies {
        try outbox.add(
          OutboxMessage(
            channel: channel, purpose: purpose, recipient: address, language: "en",
            subject: channel == .mail ? "Subject – ✓" : "",
            body: body,
            expiresAt: now.advanced(bySeconds: lifetime)), to: nil, in: pool, at: now, connection)
      }
    }
  }

  func claim() async throws -> DueMessage? { try await identity.deliveries.claim() }

  func entries(
    _ filter: MessageFilter = .all, in pool: Pool? = nil
  ) async throws -> [OutboxEntry] {
    try await identity.messages.list(pool ?? acme, filter).items
  }

  /// The number of messages with a stored text.
  func texts() async throws -> Int {
    try await database.read { connection in
      try connection.first(
        "SELECT /* test */ count(*) FROM outbox WHERE sealed_text IS NOT NULL"
      ) { try $0.next() as Int } ?? 0
    }
  }
}
