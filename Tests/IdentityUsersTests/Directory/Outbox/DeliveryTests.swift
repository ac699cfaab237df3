import Crypto
import Database
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

struct DeliveryTests {
  @Test func `an email is claimed once, and again after its lease ends`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      #expect(mail.subject == "Subject – ✓")
      #expect(mail.body == "https://example.com/?oobCode=abc123def456\nsecond line")
      #expect((mail.application, mail.attempt) == ("Acme", 1))
      #expect(try await instance.claim() == nil)
      instance.clock.advance(Deliveries.lease - 1)
      #expect(try await instance.claim() == nil)
      instance.clock.advance(1)
      let again = try #require(try await instance.claim())
      #expect((again.id, again.attempt) == (mail.id, 2))
    }
  }

  @Test func `a code that was lost with its server is sent again while it's valid`() async throws {
    try await withInstance { instance in
      let identity = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: instance.clock.wall, carriesText: true)
      let (deliveries, lease) = (identity.deliveries, Deliveries.gatewayLease)
      try await instance.write(.sms, lifetime: PhoneCode.lifetime, on: identity)
      let message = try #require(try await deliveries.claim(.sms, leasingFor: lease))
      // On SQLite, a server that starts is the only one, and sends everything at once.
      if !TestDatabase.isSQLite { try await deliveries.begin(.sms, leasingFor: lease) }
      // A request to the gateway may still be running on another server.
      instance.clock.advance(lease - 1)
      #expect(try await deliveries.claim(.sms, leasingFor: lease) == nil)
      instance.clock.advance(1)
      let again = try #require(try await deliveries.claim(.sms, leasingFor: lease))
      #expect((again.id, again.attempt) == (message.id, 2))
    }
  }

  @Test func `an email being sent isn't claimed again when the clock jumps past its lease`()
    async throws
  {
    try await withInstance { instance in
      let deliveries = instance.identity.deliveries
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      instance.clock.advance(Deliveries.lease + 60)
      try await instance.write(.mail, to: "other@example.com")
      let next = try #require(try await deliveries.claim(except: [mail.id]))
      #expect(next.recipient == "other@example.com")
      // Its lease is renewed.
      #expect(try await instance.claim() == nil)
      try await deliveries.record(.sent, of: mail)
      instance.clock.advance(Deliveries.lease)
      #expect(try await instance.claim()?.id == next.id)
    }
  }

  @Test func `an email that someone waits for is sent before any number of notices`() async throws {
    try await withInstance { instance in
      for _ in 0..<3 { try await instance.write(.mail, lifetime: Outbox.noticeLifetime) }
      instance.clock.advance(1)
      try await instance.write(.mail, to: "urgent@example.com", lifetime: 600)
      #expect(try await instance.claim()?.recipient == "urgent@example.com")
      #expect(try await instance.claim()?.recipient == Person.alice.email)
    }
  }

  @Test(arguments: [
    UserNotice.Kind.factorEnrolled.rawValue, MessagePurpose.recoverEmail.rawValue,
  ])
  func `an alert is sent before any number of other notices`(purpose: String) async throws {
    try await withInstance { instance in
      try await instance.write(
        .mail, copies: 3, lifetime: Outbox.noticeLifetime,
        purpose: UserNotice.Kind.accountDeleted.rawValue)
      instance.clock.advance(1)
      try await instance.write(
        .mail, to: "alert@example.com", lifetime: Outbox.noticeLifetime, purpose: purpose)
      #expect(try await instance.claim()?.recipient == "alert@example.com")
      #expect(try await instance.claim()?.recipient == Person.alice.email)
    }
  }

  @Test func `C15: pools take turns, however many messages one of them has`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, copies: 30, to: "acme@example.com")
      instance.clock.advance(1)
      for pool in [instance.east, instance.globex] {
        try await instance.write(.mail, copies: 2, in: pool, to: "\(pool.key)@example.com")
      }
      var sent: [String] = []
      for _ in 0..<7 { sent.append(try #require(try await instance.claim()).recipient) }
      for other in [instance.east, instance.globex] {
        let turns = sent.indices.filter { sent[$0] == "\(other.key)@example.com" }
        #expect(turns.count == 2 && turns.allSatisfy { $0 < 6 })
      }
      #expect(sent.count { $0 == "acme@example.com" } == 3)
    }
  }

  @Test func `emails are found after any number of pools whose emails wait`() async throws {
    try await withInstance { instance in
      for number in 0...Deliveries.mostPools {
        let tenant = try await instance.identity.pools.createTenant(
          in: instance.globex.project, PoolEdit(displayName: "tenant-\(number)"),
          by: .program(Instance.boss)
        ).value
        try await instance.write(.mail, in: tenant.pool)
      }
      while try await instance.claim() != nil {}
      try await instance.write(.mail, to: "acme@example.com")
      #expect(try await instance.claim()?.recipient == "acme@example.com")
      #expect(try await instance.claim() == nil)
    }
  }

  @Test func `a response that quotes a code in groups of digits isn't stored`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, body: "Read this code to the agent: 1234 5678")
      let mail = try #require(try await instance.claim())
      let shown = Deliveries.shown("451 4.7.1 rejected: code: 1234 5678 is spam", of: mail)
      #expect(shown == .quoted(code: "451"))
      let other = "451 4.7.1 try again in 300 s"
      #expect(Deliveries.shown(other, of: mail) == .response(other))
    }
  }

  @Test func `a sent email loses its text and can't be claimed again`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.sent, of: mail)
      instance.clock.advance(100_000)
      try await instance.identity.deliveries.begin()
      #expect(try await instance.claim() == nil)
      let entry = try #require(try await instance.entries().first)
      guard case .sent(let at) = entry.state else { throw Unexpected("\(entry.state)") }
      #expect(at < instance.now)
      #expect(try await instance.texts() == 0)
    }
  }

  @Test(arguments: [
    (1, 60), (2, 120), (3, 240), (4, 480), (5, 960), (6, 1_920), (7, 3_600), (8, 3_600),
    (1_000_000, 3_600), (0, 60),
  ])
  func `the retry delay is a minute, doubling up to an hour`(attempt: Int, seconds: Int64) {
    #expect(Deliveries.wait(after: attempt, of: .mail) == seconds)
  }

  @Test func `a postponed email waits longer each time and stores the reason`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      for wait: Int64 in [60, 120, 240] {
        let mail = try #require(try await instance.claim())
        try await instance.identity.deliveries.record(.postponed("451 Later"), of: mail)
        let entry = try #require(try await instance.entries().first)
        #expect(entry.nextTryAt == instance.now.advanced(bySeconds: wait))
        #expect(entry.lastError == .response("451 Later"))
        #expect(entry.state == .waiting)
        instance.clock.advance(wait - 1)
        #expect(try await instance.claim() == nil)
        instance.clock.advance(1)
      }
    }
  }

  // On PostgreSQL, another server may be sending what is claimed.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `a starting server retries all waiting emails at once`() async throws {
    try await withInstance { instance in
      for _ in 0..<3 { try await instance.write(.mail) }
      let first = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.postponed("451 Later"), of: first)
      _ = try #require(try await instance.claim())
      try await instance.identity.deliveries.begin()
      var ids: Set<String> = []
      while let mail = try await instance.claim() { ids.insert(mail.id) }
      #expect(ids.count == 3)
    }
  }

  @Test func `a permanently rejected email fails and loses its text`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.failed("550 No such user"), of: mail)
      let entry = try #require(try await instance.entries(.failed).first)
      #expect(entry.state == .failed(instance.now))
      #expect(entry.lastError == .response("550 No such user"))
      #expect(try await instance.texts() == 0)
      instance.clock.advance(4_000)
      #expect(try await instance.claim() == nil)
    }
  }

  @Test func `an email to an invalid address fails with a reason of its own`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.invalidRecipient, of: mail)
      let entry = try #require(try await instance.entries(.failed).first)
      #expect(entry.lastError == .invalidRecipient && entry.state == .failed(instance.now))
    }
  }

  @Test(arguments: [
    ("554 5.7.1 Message contains https://example.com/?oobCode=abc123def456", true),
    ("554 blocked: abc123def456", true),
    ("550 5.1.1 <alice@example.com>: no such user", false),
    ("451 4.7.1 Greylisted, try again later", false),
  ])
  func `a server's reply that quotes the email's link isn't stored`(
    reason: String, isDropped: Bool
  ) async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let mail = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.postponed(reason), of: mail)
      let kept = try #require(try await instance.entries().first?.lastError)
      #expect(
        kept == (isDropped ? .quoted(code: "554") : .response(reason)))
    }
  }

  @Test func `an expired email isn't sent, and purging deletes its text`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, lifetime: 600)
      try await instance.write(.mail, lifetime: 600)
      instance.clock.advance(600)
      #expect(try await instance.entries(.waiting).isEmpty)
      #expect(try await instance.claim() == nil)
      #expect(try await instance.texts() == 0)
      try await instance.write(.sms, lifetime: 600)
      instance.clock.advance(599)
      try await instance.identity.purgeExpired()
      #expect(try await instance.texts() == 1)
      instance.clock.advance(1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.texts() == 0)
      #expect(try await instance.entries().allSatisfy { $0.state == .expired })
    }
  }

  @Test func `messages are deleted 30 days after they expire`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, lifetime: 600)
      instance.clock.advance(600 + Outbox.memory)
      try await instance.identity.purgeExpired()
      #expect(try await instance.entries().count == 1)
      instance.clock.advance(1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.entries().isEmpty)
    }
  }

  @Test func `any number of messages is deleted at once, 500 in a transaction`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, copies: 1_200, lifetime: 600)
      instance.clock.advance(601 + Outbox.memory)
      try await instance.identity.purgeExpired()
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM outbox") { try $0.next() as Int }
      }
      #expect(left == 0)
    }
  }

  @Test func `an email after hundreds of expired ones is found, by several transactions`()
    async throws
  {
    try await withInstance { instance in
      try await instance.write(.mail, copies: 250, lifetime: 600)
      instance.clock.advance(600)
      try await instance.write(.mail, to: Person.bob.email)
      let (deliveries, now) = (instance.identity.deliveries, instance.now)
      let first = try await instance.database.write { connection in
        try deliveries.claim(.mail, except: [], at: now, connection)
      }
      guard case .unknown = first else {
        Issue.record("\(first)")
        return
      }
      #expect(try await instance.texts() == 251 - Deliveries.mostSkipped)
      #expect(try await instance.claim()?.recipient == Person.bob.email)
      #expect(try await instance.texts() == 1)
    }
  }

  @Test func `text messages can't be claimed`() async throws {
    try await withInstance { instance in
      try await instance.write(.sms)
      try await instance.identity.deliveries.begin()
      #expect(try await instance.claim() == nil)
      #expect(try await instance.entries(.waiting).count == 1)
    }
  }

  @Test func `no email is sent to users of a deleted tenant`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, in: instance.east)
      let east = try #require(instance.east.tenant)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: east, by: .program(Instance.boss))
      #expect(try await instance.claim() == nil)
      while try await instance.identity.purge() {}
      #expect(try await instance.entries(in: instance.east).isEmpty)
    }
  }

  @Test func `twenty concurrent claims get each email once`() async throws {
    try await withInstance { instance in
      for _ in 0..<10 { try await instance.write(.mail) }
      let ids = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<20 { group.addTask { try await instance.claim()?.id } }
        return try await group.reduce(into: [String?]()) { $0.append($1) }
      }
      #expect(ids.compactMap { $0 }.count == 10)
      #expect(Set(ids.compactMap { $0 }).count == 10)
    }
  }
}
