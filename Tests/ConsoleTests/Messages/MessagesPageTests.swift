import Database
import HTTP
import Testing

@testable import Console
@testable import Identity

/// The pages of messages to users, and who can open a message.
@Suite struct MessagesPageTests {
  private func queuedMessage(_ world: World) async throws -> (path: String, text: String) {
    let pool = try await world.euPool
    let account = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
    try await world.addMessage(for: account, in: pool)
    let messages = try await world.filled("{eu}/messages")
    let message = try #require(try await world.identity.messages.list(pool).items.first)
    return ("\(messages)/\(message.id)", "\(messages)/\(message.id)/text")
  }

  /// Queues three text messages, which are sent in vain, and sends all emails.
  private func queueTextMessages(_ world: World, tries: Int) async throws {
    let deliveries = world.identity.deliveries
    while let mail = try await deliveries.claim() {
      try await deliveries.record(.sent, of: mail)
    }
    let (account, pool, now) = (try await world.user(), try await world.euPool, world.clock.now)
    let outbox = world.identity.store.outbox
    try await world.database.write { connection in
      for number in 0..<3 {
        let message = OutboxMessage(
          channel: .sms, purpose: "sms-sign-in", recipient: "+1202555010\(number)",
          language: "en", subject: "", body: "123456", expiresAt: now.advanced(bySeconds: 86_400))
        try outbox.add(message, to: account, in: pool, at: now, connection)
      }
    }
    for _ in 0..<tries {
      for _ in 0..<3 {
        let message = try #require(try await deliveries.claim(.sms))
        try await deliveries.record(.postponed("busy"), of: message)
      }
      world.clock.advance(seconds: 3_600)
    }
  }

  @Test func `the pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let messages = try await world.filled("{eu}/messages")
      try Snapshot.check(try await ada.get(messages).settled, named: "messages-empty.html")
      let message = try await queuedMessage(world)
      try Snapshot.check(try await ada.get(messages).settled, named: "messages.html")
      try Snapshot.check(try await ada.get(message.path).settled, named: "message.html")
      let opened = try await ada.submit(message.path, [:], to: message.text)
      try Snapshot.check(opened.settled, named: "message-open.html")
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      try Snapshot.check(
        try await nadia.get(message.path).settled, named: "message-support.html")
    }
  }

  @Test func `an owner can open a message, and that is audited`() async throws {
    try await World.withSampleData { world in
      let message = try await queuedMessage(world)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(message.path)
      #expect(page.says("Links and codes in this message give access to the account."))
      #expect(!page.says("The old password no longer works"))
      let opened = try await ada.submit(message.path, [:], to: message.text)
      #expect(opened.status == .ok)
      #expect(opened.says("The old password no longer works."))
      let audit = try await ada.get(try await world.filled("{eu}/audit"))
      #expect(audit.says("Message to user opened"))
    }
  }

  @Test func `L6: support sees a message's status, but not its text`() async throws {
    try await World.withSampleData { world in
      let message = try await queuedMessage(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(message.path)
      #expect(page.says("Opening it requires the owner role."))
      #expect(!page.text.contains("action=\"\(message.text)\""))
      let refused = try await nadia.submit(message.path, [:], to: message.text)
      #expect(refused.status == .forbidden)
      #expect(!refused.says("The old password"))
      #expect(refused.says("Opening messages to users requires the owner role."))
    }
  }

  @Test func `the overview links to waiting messages`() async throws {
    try await World.withSampleData { world in
      _ = try await queuedMessage(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let overview = try await nadia.get(try await world.filled("{eu}"))
      #expect(overview.says("Email isn’t set up. Messages pending: "))
      #expect(overview.text.contains("/messages?show=waiting"))
    }
  }

  @Test(
    arguments: [
      // Text messages that no gateway sends, that are being sent, and that can't be sent.
      (false, 0, "No gateway for text messages is configured. Messages pending: 3"),
      (true, 2, nil), (true, 3, "Messages that failed to send and are being retried: 3"),
    ] as [(Bool, Int, String?)])
  func `the overview says what keeps text messages waiting`(
    carriesText: Bool, tries: Int, sentence: String?
  ) async throws {
    try await World.withSampleData(carriesText: carriesText) { world in
      try await queueTextMessages(world, tries: tries)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let overview = try await nadia.get(try await world.filled("{eu}"))
      #expect(sentence.map(overview.says) ?? !overview.says("/messages?show=waiting"))
      #expect(!overview.says("Email isn’t set up"))
    }
  }

  @Test func `the pages of text messages name the SMS gateway`() async throws {
    try await World.withSampleData(carriesText: true) { world in
      try await queueTextMessages(world, tries: 0)
      let sent = try #require(try await world.identity.deliveries.claim(.sms))
      try await world.identity.deliveries.record(.sent, of: sent)
      let messages = try await world.filled("{eu}/messages")
      let ada = try await Browser.signedIn(world)
      var pages: [String] = []
      for message in try await world.identity.messages.list(try await world.euPool).items
      where message.channel == .sms {
        let page = try await ada.get("\(messages)/\(message.id)")
        Markup.check(page)
        pages.append(page.text)
      }
      let accepted = pages.filter { $0.contains("Accepted by SMS gateway") }
      #expect(pages.count == 3 && accepted.count == 1)
      #expect(
        accepted.first?.contains("deleted when the SMS gateway accepted the message.") == true)
      #expect(pages.count { $0.contains("The message is sent by SMS, so only the user") } == 2)
      #expect(!pages.contains { $0.contains("mail server") || $0.contains("sent by email") })
    }
  }

  @Test func `an invalid message number is not found`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for id in ["0", "x", "99999999999999999999", "-1"] {
        let page = try await ada.get(try await world.filled("{eu}/messages/\(id)"))
        #expect(page.status == .notFound)
      }
    }
  }

  @Test(arguments: [
    "<script>alert(1)</script>@example.com", "\u{202E}moc.elpmaxe@mas", "🙂@example.com",
    String(repeating: "x", count: 4_000),
  ])
  func `a hostile search is escaped and finds nothing`(text: String) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      var query = Form()
      query.add("q", text)
      let page = try await ada.get(query.query(of: try await world.filled("{eu}/messages")))
      #expect(page.status == .ok)
      #expect(page.says("No matching messages"))
      #expect(!page.text.contains("<script>alert"))
    }
  }
}
