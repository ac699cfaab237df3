import Crypto
import Database
@testable import Identity
import JSON
import Testing

struct EventStreamTests {
  @Test func `an owner adds a stream with a reason, and the log has its destination`() async throws
  {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let destination = try #require(
        EventDestination(.webhook, "https://siem.example.com/events"))
      await expect("refused.writtenReasonRequired") {
        try await instance.streams.add(
          destination, name: "SIEM", fromStart: false, owner.request(nil))
      }
      let added = try await instance.streams.add(
        destination, name: "SIEM", fromStart: false, owner.request(nil, note: "for the SIEM")
      ).value
      let secret = try #require(added.secret)
      #expect(secret.revealedText.hasPrefix("whsec_"))
      let row = try #require(try await instance.identity.audit.list().items.first)
      #expect(row.action == .eventStreamAdd && row.note == "for the SIEM")
      let fields = row.changes.map(\.field)
      #expect(fields == [.streamKind, .destination, .streamStart])
      let rows = try await instance.identity.audit.list().items
      #expect(!rows.contains { "\($0)".contains(secret.revealedText) })
    }
  }

  @Test(arguments: [Role.auditor, .support])
  func `nobody else adds a stream`(_ role: Role) async throws {
    try await withInstance { instance in
      let agent = try await instance.agent("eve", role: role)
      let destination = try #require(EventDestination(.file, "siem"))
      await expect("refused.notAllowed") {
        try await instance.streams.add(
          destination, name: "SIEM", fromStart: true, agent.request(nil, note: "please"))
      }
    }
  }

  @Test func `the secret of a webhook is stored encrypted, and resealed with a new master key`()
    async throws
  {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let destination = try #require(
        EventDestination(.webhook, "https://siem.example.com/events"))
      let added = try await instance.streams.add(
        destination, name: "SIEM", fromStart: true, owner.request(nil, note: "x")
      ).value
      let secret = try #require(added.secret)
      let stored = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM event_stream") {
          try $0.value(0) as [UInt8]
        }
      }
      let sealed = try #require(stored)
      #expect(!sealed.contains(secret.revealedBytes))
      let identity = try await instance.rotateMasterKey().identity
      while try await identity.auditChain.seal() {}
      let batch = try #require(try await identity.eventStreams.next(added.stream.id, limit: 1))
      #expect(batch.secret == secret)
      let resealed = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM event_stream") {
          try $0.value(0) as [UInt8]
        }
      }
      #expect(resealed != sealed)
    }
  }

  @Test func `a stream begins with the next entry, unless it's to have all`() async throws {
    try await withInstance { instance in
      try await instance.writeEntries(7)
      try await instance.sealAll()
      let end = try await instance.chain.status().sealed
      let next = try await instance.addStream(fromStart: false)
      let all = try await instance.addStream(.file, "all", name: "All")
      #expect(next.position == end && all.position == 0)
      try await instance.sealAll()
      let first = try await instance.deliverAll(next).first { $0.content == .entry }
      #expect(first?.sequence == end + 1)
    }
  }

  @Test func `a destination has one stream, and there are only so many`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      try await instance.addStream(.syslogTLS, "log.example.com:6514")
      await expect("failed.exists") {
        guard let same = EventDestination(.syslog, "log.example.com:6514") else { return }
        _ = try await instance.streams.add(
          same, name: "Again", fromStart: true, owner.request(nil, note: "x"))
      }
      await expect("failed.invalidName") {
        guard let other = EventDestination(.file, "other") else { return }
        _ = try await instance.streams.add(
          other, name: " ", fromStart: true, owner.request(nil, note: "x"))
      }
      for number in 1..<EventStreams.most {
        try await instance.addStream(.file, "file-\(number)", name: "File \(number)")
      }
      await expect("failed.tooMany") {
        guard let other = EventDestination(.file, "other") else { return }
        _ = try await instance.streams.add(
          other, name: "One more", fromStart: true, owner.request(nil, note: "x"))
      }
    }
  }

  @Test func `a deleted stream is gone with its rejected entries`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream()
      try await instance.sealAll()
      _ = try await instance.refuseNext(stream)
      try await instance.reauthenticate(owner.session)
      let batch = try #require(try await instance.streams.next(stream.id, limit: 1))
      _ = try await instance.streams.delete(stream.id, owner.request(nil, note: "moved"))
      let result = try await instance.streams.record(.delivered, of: batch)
      #expect(result == .stale)
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM dead_letter") {
          try $0.value(0) as Int
        }
      }
      #expect(left == 0)
      await expect("notFound") { try await instance.streams.find(stream.id) }
    }
  }

  @Test func `a read that changes nothing writes no entry`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream()
      let before = try await instance.writeEntries(0)
      let resumed = try await instance.streams.resume(stream.id, owner.request(nil)).value
      let after = try await instance.writeEntries(0)
      #expect(!resumed && before == after)
    }
  }

  @Test(arguments: [
    (EventStream.Kind.file, "siem", true), (.file, "a-1", true), (.file, "", false),
    (.file, "../master", false), (.file, "A", false), (.file, "-rf", false),
    (.file, "a/b", false), (.file, "a.jsonl", false),
    (.file, String(repeating: "a", count: 65), false),
    (.syslog, "log.example.com:514", true), (.syslogTLS, "192.0.2.7:6514", true),
    (.syslogTLS, "[2001:db8::1]:6514", true), (.syslogTLS, "log.example.com", false),
    (.syslogTLS, "log.example.com:0", false), (.syslogTLS, "log.example.com:65536", false),
    (.syslogTLS, "a b:1", false), (.syslogTLS, "user@host:1", false), (.syslogTLS, "[x]:1", false),
    (.syslogTLS, ":514", false), (.syslogTLS, "2001:db8::1", false),
    (.webhook, "https://siem.example.com/events?a=b", true),
    (.webhook, "http://127.0.0.1:8080/", true), (.webhook, "http://[::1]/", true),
    (.webhook, "http://siem.example.com/", false), (.webhook, "ftp://siem.example.com/", false),
    (.webhook, "https://user@siem.example.com/", false),
    (.webhook, "https://siem.example.com/#x", false), (.webhook, "https://", false),
    (.webhook, "https://siem.example.com/\r\nX: y", false),
  ])
  func `only addresses of the destination's kind are valid`(
    _ kind: EventStream.Kind, _ target: String, _ isValid: Bool
  ) {
    let destination = EventDestination(kind, target)
    #expect((destination != nil) == isValid)
  }
}

extension Collection where Element: Equatable {
  fileprivate func contains(_ part: [Element]) -> Bool {
    let all = Array(self)
    guard part.count <= all.count else { return false }
    return (0...(all.count - part.count)).contains { Array(all[$0..<($0 + part.count)]) == part }
  }
}
