import Crypto
@testable import Identity
import Testing

/// Changes of a stream's name, destination, and secret.
struct EventStreamChangeTests {
  @Test func `a change that differs in nothing writes nothing`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let owner = try await instance.agent("olga", role: .owner)
      let before = try await instance.identity.audit.list().items.count
      let outcome = try await instance.streams.change(
        stream.id, name: stream.name, target: stream.target, renewsSecret: false,
        owner.request(nil, note: "look"))
      #expect(outcome.value == nil)
      #expect(try await instance.identity.audit.list().items.count == before)
    }
  }

  @Test func `a new destination gets what the earlier one didn't, and is in the log`() async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let owner = try await instance.agent("olga", role: .owner)
      try await instance.sealAll()
      let sending = try #require(try await instance.streams.next(stream.id, limit: 100))
      let position = sending.stream.position
      let target = "https://new.example.com/events"
      _ = try await instance.streams.change(
        stream.id, name: "Archive", target: target, renewsSecret: false,
        owner.request(nil, note: "moved"))
      // The earlier destination confirms what it got meanwhile.
      #expect(try await instance.streams.record(.delivered, of: sending) == .stale)
      let present = try await instance.streams.find(stream.id).stream
      #expect((present.name, present.target, present.position) == ("Archive", target, position))
      let row = try #require(try await instance.identity.audit.list().items.first)
      #expect(row.action == .eventStreamChange && row.note == "moved")
      #expect(row.changes.map(\.field) == [.displayName, .destination])
    }
  }

  @Test func `an interruption at a former destination or position changes nothing`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream(.syslogTLS, "log.example.com:6514", by: owner)
      try await instance.writeEntries(10)
      try await instance.sealAll()
      let start = StreamPosition(of: stream)
      let first = try await instance.interrupted(stream)
      func expectStale(_ batch: EventBatch) async throws {
        let before = try await instance.streams.find(stream.id).stream
        let result = try await instance.streams.rewind(
          batch, to: start, "reset", interruptions: 3)
        #expect(result == .stale)
        let after = try await instance.streams.find(stream.id).stream
        #expect((after.position, after.headPosition) == (before.position, before.headPosition))
        #expect(after.failures == 0 && after.failure == nil && after.nextTryAt == nil)
      }
      _ = try await instance.deliverAll(stream)
      try await expectStale(first)
      let second = try await instance.interrupted(stream)
      _ = try await instance.streams.change(
        stream.id, name: stream.name, target: "other.example.com:6514", renewsSecret: false,
        owner.request(nil, note: "moved"))
      try await expectStale(second)
    }
  }

  @Test(arguments: [false, true])
  func `sending a refused entry again doesn't move the stream`(
    goesBack: Bool
  ) async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream(by: owner)
      try await instance.writeEntries(5)
      try await instance.sealAll()
      let refused = try await instance.refuseNext(stream)
      _ = try await instance.deliverAll(stream)
      _ = try await instance.streams.retry(refused, of: stream.id, owner.request(nil))
      let late = try #require(try await instance.streams.next(stream.id, limit: 100))
      #expect(!late.isNext)
      if goesBack {
        try await instance.interrupt(stream, after: StreamPosition(sequence: refused, head: 0))
      } else {
        try await instance.sealAll()
        let more = try #require(try await instance.streams.next(stream.id, limit: 100))
        try await instance.streams.record(.delivered, of: more)
      }
      let before = try await instance.streams.find(stream.id).stream
      #expect(before.position != late.stream.position)
      #expect(try await instance.streams.record(.delivered, of: late) == .result)
      let after = try await instance.streams.find(stream.id).stream
      #expect((after.position, after.headPosition) == (before.position, before.headPosition))
      #expect(after.failures == 0 && after.nextTryAt == nil)
      let letters = try await instance.streams.deadLetters(stream.id)
      #expect(letters.isEmpty)
    }
  }

  @Test func `a destination of another kind or another stream is refused`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let owner = try await instance.agent("olga", role: .owner)
      let taken = try #require(EventDestination(.webhook, "https://taken.example.com/"))
      _ = try await instance.streams.add(
        taken, name: "Other", fromStart: false, owner.request(nil, note: "x"))
      for (target, error) in [("siem", "failed.invalidTarget"), (taken.target, "failed.exists")] {
        await expect(error) {
          try await instance.streams.change(
            stream.id, name: "SIEM", target: target, renewsSecret: false,
            owner.request(nil, note: "x"))
        }
      }
    }
  }

  @Test func `a stream can't be named like another one`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let owner = try await instance.agent("olga", role: .owner)
      let other = try #require(EventDestination(.webhook, "https://other.example.com/"))
      await expect("failed.nameTaken") {
        try await instance.streams.add(
          other, name: stream.name.lowercased(), fromStart: false, owner.request(nil, note: "x"))
      }
      let added = try await instance.streams.add(
        other, name: "Other", fromStart: false, owner.request(nil, note: "x"))
      await expect("failed.nameTaken") {
        try await instance.streams.change(
          added.value.stream.id, name: stream.name, target: other.target, renewsSecret: false,
          owner.request(nil, note: "x"))
      }
    }
  }

  @Test func `a new secret signs from then on, and a change without one keeps it`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let owner = try await instance.agent("olga", role: .owner)
      try await instance.sealAll()
      let first = try #require(try await instance.streams.next(stream.id, limit: 1)?.secret)
      _ = try await instance.streams.change(
        stream.id, name: "Renamed", target: stream.target, renewsSecret: false,
        owner.request(nil, note: "x"))
      let kept = try #require(try await instance.streams.next(stream.id, limit: 1)?.secret)
      #expect(kept.revealedText == first.revealedText)
      let renewed = try await instance.streams.change(
        stream.id, name: "Renamed", target: stream.target, renewsSecret: true,
        owner.request(nil, note: "leaked"))
      let new = try #require(renewed.value?.secret)
      let used = try #require(try await instance.streams.next(stream.id, limit: 1)?.secret)
      #expect(used.revealedText == new.revealedText && new.revealedText != first.revealedText)
      let row = try #require(try await instance.identity.audit.list().items.first)
      #expect(row.changes.map(\.field) == [.signingSecret])
    }
  }
}
