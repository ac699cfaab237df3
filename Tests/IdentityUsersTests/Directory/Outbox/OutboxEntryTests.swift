import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct OutboxEntryTests {
  @Test func `messages are listed by ID, state, and recipient`() async throws {
    try await withInstance { instance in
      for number in 0..<5 {
        try await instance.write(.mail, to: "user\(number % 2)@example.com")
      }
      try await instance.write(.mail, in: instance.east)
      let messages = instance.identity.messages
      let first = try await messages.list(instance.acme, limit: 2)
      let second = try await messages.list(instance.acme, after: first.next, limit: 2)
      let third = try await messages.list(instance.acme, after: second.next, limit: 2)
      let ids = (first.items + second.items + third.items).map(\.id)
      #expect(ids == ids.sorted(by: >))
      #expect(ids.count == 5 && third.next == nil)
      #expect(
        try await messages.list(instance.acme, .all, to: "USER1@example.com").items.count == 2)
      let mail = try #require(try await instance.claim())
      try await instance.identity.deliveries.record(.failed("550"), of: mail)
      #expect(try await messages.list(instance.acme, .waiting).items.count == 4)
      #expect(try await messages.list(instance.acme, .failed).items.count == 1)
      #expect(
        try await messages.list(instance.acme, .failed, to: mail.recipient).items.count == 1)
    }
  }

  @Test func `waiting messages and those late after three failures are counted`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      for _ in 0..<3 {
        let mail = try #require(try await instance.claim())
        try await instance.identity.deliveries.record(.postponed("451"), of: mail)
        instance.clock.advance(3_600)
      }
      for _ in 0..<2 { try await instance.write(.mail) }
      let counts = try await instance.identity.messages.counts(instance.acme)
      #expect((counts.waiting(by: .mail), counts.late(by: .mail)) == (3, 1))
      #expect((counts.waiting(by: .sms), counts.late(by: .sms), counts.isWhole) == (0, 0, true))
      let others = try await instance.identity.messages.counts(instance.east)
      #expect((others.waiting(by: .mail), others.late(by: .mail)) == (0, 0))
    }
  }

  @Test func `opening a message is audited without its text`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      let entry = try #require(try await instance.entries().first)
      let text = try await instance.identity.messages.open(
        instance.acme, entry.id, by: .program(Instance.boss)
      ).value
      #expect(text.subject == "Subject – ✓")
      #expect(text.body.contains("oobCode=abc123def456"))
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.objectKind) == (.messageRead, "message"))
      #expect((row.objectID, row.objectName) == (String(entry.id), Person.alice.email))
      #expect(row.new(.message) == .code("verify-email"))
      #expect(row.actorName == "Bo the boss")
    }
  }

  @Test func `a message can be opened only in its pool and before it expires`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail, lifetime: 60)
      let messages = instance.identity.messages
      let entry = try #require(try await instance.entries().first)
      for pool in [instance.east, instance.globex] {
        await expect("notFound") {
          try await messages.open(pool, entry.id, by: .program(Instance.boss))
        }
        await expect("notFound") { try await messages.find(pool, entry.id) }
      }
      instance.clock.advance(60)
      await expect("notReadable") {
        try await messages.open(instance.acme, entry.id, by: .program(Instance.boss))
      }
      #expect(try await instance.log().allSatisfy { $0.action != .messageRead })
    }
  }

  @Test func `with email delivery, only text messages can be opened`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      try await instance.write(.sms)
      let identity = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer,
        clock: instance.clock.wall, carriesMail: true)
      let entries = try await instance.entries()
      await expect("notReadable") {
        try await identity.messages.open(instance.acme, entries[1].id, by: .program(Instance.boss))
      }
      let text = try await identity.messages.open(
        instance.acme, entries[0].id, by: .program(Instance.boss)
      ).value
      #expect(text.subject.isEmpty && text.body.contains("oobCode"))
    }
  }
}
