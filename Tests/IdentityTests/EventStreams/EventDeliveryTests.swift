import Crypto
import Database
@testable import Identity
import JSON
import Testing
import Text

struct EventDeliveryTests {
  @Test func `every sealed entry is delivered once, in order, with the signed heads`() async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(1_205)
      try await instance.sealAll()
      let total = try await instance.writeEntries(0)
      let events = try await instance.deliverAll(stream)
      let entries = events.filter { $0.content == .entry }.map(\.sequence)
      #expect(entries == Array(1...total))
      let heads = events.filter { $0.content == .head }.map(\.sequence)
      let stored = try await instance.chain.heads().map(\.sequence)
      #expect(heads == stored && heads.contains(1_000))
      // A head follows the entries that it covers.
      let afterHead = try #require(events.firstIndex { $0.content == .head })
      #expect(events[..<afterHead].allSatisfy { $0.sequence <= events[afterHead].sequence })
      let state = try await instance.streams.find(stream.id)
      #expect(state.lag == 0 && state.oldest == nil && state.stream.position == total)
      let work = try await instance.streams.due()
      #expect(work.due.isEmpty && work.streams == [stream.id])
    }
  }

  @Test func `entries that aren't sealed yet aren't delivered`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      let batch = try await instance.streams.next(stream.id, limit: 10)
      #expect(batch == nil)
    }
  }

  @Test func `what wasn't recorded as delivered is delivered again, and nothing is left out`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(10)
      try await instance.sealAll()
      let first = try #require(try await instance.streams.next(stream.id, limit: 4))
      // The server ended before it recorded the delivery.
      let again = try #require(try await instance.streams.next(stream.id, limit: 4))
      #expect(first.events.map(\.summary) == again.events.map(\.summary))
      try await instance.streams.record(.delivered, of: again)
      // A second record of the same batch changes nothing.
      let late = try await instance.streams.record(.delivered, of: first)
      #expect(late == .stale)
      let next = try #require(try await instance.streams.next(stream.id, limit: 4))
      #expect(next.events.first?.sequence == 5)
    }
  }

  @Test func `a head that is signed later is delivered although its entry was`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.sealAll()
      _ = try await instance.deliverAll(stream)
      try await instance.writeEntries(1)
      _ = try await instance.chain.seal()
      let entry = try await instance.deliverAll(stream).map(\.summary)
      #expect(entry.count == 1 && entry.first?.hasPrefix("audit") == true)
      _ = try await instance.chain.seal(signing: true)
      let head = try await instance.deliverAll(stream).map(\.summary)
      #expect(head.count == 1 && head.first?.hasPrefix("head") == true)
    }
  }

  @Test func `two streams have positions of their own`() async throws {
    try await withInstance { instance in
      let webhook = try await instance.addStream()
      let file = try await instance.addStream(.file, "siem", name: "Archive")
      try await instance.writeEntries(5)
      try await instance.sealAll()
      let stuck = try #require(try await instance.streams.next(webhook.id, limit: 10))
      try await instance.streams.record(.postponed("down"), of: stuck)
      let delivered = try await instance.deliverAll(file)
      #expect(!delivered.isEmpty)
      let states = try await instance.streams.list()
      let lags = Dictionary(uniqueKeysWithValues: states.map { ($0.stream.name, $0.lag) })
      #expect(lags["Archive"] == 0 && (lags["SIEM"] ?? 0) > 5)
    }
  }

  @Test func `a destination that is down is tried again after growing pauses, and loses nothing`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.sealAll()
      var pauses: [Int64] = []
      for _ in 0..<9 {
        let batch = try #require(try await instance.streams.next(stream.id, limit: 10))
        #expect(batch.events.first?.sequence == 1)
        try await instance.streams.record(.postponed("connection refused"), of: batch)
        let waiting = try await instance.streams.next(stream.id, limit: 10)
        #expect(waiting == nil)
        let next = try #require(try await instance.streams.find(stream.id).stream.nextTryAt)
        pauses.append(next.seconds - instance.now.seconds)
        instance.clock.advance(pauses.last ?? 0)
      }
      #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
      let state = try await instance.streams.find(stream.id).stream
      #expect(state.failures == 9 && state.failure == .reported("connection refused"))
      let events = try await instance.deliverAll(stream)
      #expect(events.first?.sequence == 1)
      let after = try await instance.streams.find(stream.id).stream
      #expect(after.failures == 0 && after.failure == nil && after.deliveredAt != nil)
    }
  }

  @Test func `an entry that is refused repeatedly leaves a gap, which the stream marks`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(5)
      try await instance.sealAll()
      for _ in 0..<2 {
        let batch = try #require(try await instance.streams.next(stream.id, limit: 1))
        try await instance.streams.record(.delivered, of: batch)
      }
      let refused = try await instance.refuseNext(stream)
      #expect(refused == 3)
      let rest = try await instance.deliverAll(stream, limit: 3).map(\.summary)
      #expect(rest.prefix(3) == ["gap 3", "audit 4", "audit 5"])
      let letter = try #require(try await instance.streams.deadLetters(stream.id).first)
      #expect(letter.sequence == 3 && letter.attempts == 5 && letter.row != nil)
      #expect(letter.failure == .reported("HTTP 422"))
      let count = try await instance.streams.find(stream.id).deadLetters
      #expect(count == 1)
    }
  }

  @Test func `attempts without a response don't count as refusals`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.sealAll()
      for _ in 0..<10 {
        let batch = try #require(try await instance.streams.next(stream.id, limit: 1))
        try await instance.streams.record(.postponed("HTTP 503"), of: batch)
        instance.clock.advance(EventStreams.longestWait)
      }
      for attempt in 1..<EventStreams.mostAttempts {
        let batch = try #require(try await instance.streams.next(stream.id, limit: 1))
        let result = try await instance.streams.record(
          .refused("HTTP 500", attempts: attempt), of: batch)
        #expect(result == .result && batch.events.map(\.sequence) == [1])
        instance.clock.advance(EventStreams.longestWait)
      }
      let letters = try await instance.streams.deadLetters(stream.id)
      #expect(letters.isEmpty)
    }
  }

  @Test func `a mark is refused for an hour before the stream continues without it`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(5)
      try await instance.sealAll()
      _ = try await instance.refuseNext(stream)
      try await instance.refuseGap(stream, "gap 1")
      let rest = try await instance.deliverAll(stream, limit: 1).map(\.summary)
      #expect(rest.first == "audit 2")
      let letters = try await instance.streams.deadLetters(stream.id).map(\.sequence)
      #expect(letters == [1])
    }
  }

  @Test func `a refused gap that retention left doesn't stop the stream either`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(20)
      try await instance.sealAll()
      instance.clock.advance(400 * 86_400)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      try await instance.refuseGap(stream, "gap 1")
      let rest = try await instance.deliverAll(stream, limit: 1)
      let names = Set(rest.map(\.name))
      #expect(rest.contains { $0.content == .entry } && !names.contains("gap"))
    }
  }

  @Test func `a refused entry is sent again late, or discarded`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream()
      try await instance.writeEntries(5)
      try await instance.sealAll()
      let one = try await instance.refuseNext(stream)
      let mark = try #require(try await instance.streams.next(stream.id, limit: 1))
      try await instance.streams.record(.delivered, of: mark)
      let two = try await instance.refuseNext(stream)
      _ = try await instance.deliverAll(stream)
      _ = try await instance.streams.retry(one, of: stream.id, owner.request(nil))
      let again = try #require(try await instance.streams.next(stream.id, limit: 100))
      #expect(again.events.map(\.summary) == ["audit \(one) late"] && !again.isNext)
      try await instance.streams.record(.refused("HTTP 400", attempts: 1), of: again)
      let letter = try #require(try await instance.streams.deadLetters(stream.id).first)
      #expect(letter.attempts == 6 && !letter.isRetried)
      _ = try await instance.streams.retry(one, of: stream.id, owner.request(nil))
      let third = try #require(try await instance.streams.next(stream.id, limit: 100))
      try await instance.streams.record(.delivered, of: third)
      let left = try await instance.streams.deadLetters(stream.id).map(\.sequence)
      #expect(left == [two])
      try await instance.reauthenticate(owner.session)
      _ = try await instance.streams.discard(
        two, of: stream.id, owner.request(nil, note: "known"))
      let none = try await instance.streams.deadLetters(stream.id)
      #expect(none.isEmpty)
      await expect("failed.letterNotFound") {
        try await instance.streams.retry(two, of: stream.id, owner.request(nil))
      }
    }
  }

  @Test func `a gap is marked although its entry was discarded before`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream()
      try await instance.sealAll()
      let refused = try await instance.refuseNext(stream)
      try await instance.reauthenticate(owner.session)
      _ = try await instance.streams.discard(
        refused, of: stream.id, owner.request(nil, note: "known"))
      let first = try await instance.deliverAll(stream, limit: 1).first?.summary
      #expect(first == "gap \(refused)")
    }
  }

  @Test func `entries that retention removed before they were delivered leave a marked gap`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.writeEntries(20)
      try await instance.sealAll()
      instance.clock.advance(400 * 86_400)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      let lag = try await instance.streams.find(stream.id).lag
      let events = try await instance.deliverAll(stream, limit: 1)
      #expect(lag == Int64(events.count { $0.content == .entry }))
      let gap = try #require(events.first)
      #expect(gap.json["type"]?.textValue?.text == "gap" && gap.sequence == 1)
      let through = try #require(gap.json["through"]?.numberValue?.int64)
      #expect(through > 20 && gap.json["reason"]?.textValue?.text == "expired")
      let next = try #require(events.first { $0.content == .entry })
      #expect(next.sequence == through + 1)
    }
  }

  @Test func `a paused stream delivers nothing, and continues where it was`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agent("olga", role: .owner)
      let stream = try await instance.addStream()
      try await instance.sealAll()
      _ = try await instance.deliverAll(stream)
      let position = try await instance.streams.find(stream.id).stream.position
      _ = try await instance.streams.pause(stream.id, owner.request(nil, note: "maintenance"))
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let none = try await instance.deliverAll(stream)
      #expect(none.isEmpty)
      _ = try await instance.streams.test(stream.id, owner.request(nil))
      let test = try #require(try await instance.streams.next(stream.id, limit: 10))
      #expect(test.events.map(\.name) == ["test"])
      try await instance.streams.record(.refused("HTTP 404", attempts: 1), of: test)
      guard
        case .failed(_, .reported("HTTP 404")) = try await instance.streams.find(stream.id)
          .stream.test
      else { throw Failure("no result of the test") }
      _ = try await instance.streams.resume(stream.id, owner.request(nil))
      try await instance.sealAll()
      let next = try await instance.deliverAll(stream).first?.sequence
      #expect(next == position + 1)
    }
  }

  @Test func `a stream goes back when its connection broke`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream(.syslogTLS, "log.example.com:6514")
      try await instance.writeEntries(10)
      try await instance.sealAll()
      _ = try await instance.deliverAll(stream)
      try await instance.interrupt(stream, after: StreamPosition(sequence: 4, head: 4))
      let next = try await instance.deliverAll(stream).map(\.sequence)
      #expect(next.first == 5)
      try await instance.interrupt(stream, after: StreamPosition(sequence: 1_000, head: 1_000))
      let none = try await instance.deliverAll(stream)
      #expect(none.isEmpty)
    }
  }

  @Test func `a stream waits longer each time its connection breaks, although it delivers between`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream(.syslog, "log.example.com:6514")
      try await instance.sealAll()
      let start = StreamPosition(of: stream)
      var waits: [Int64] = []
      for interruptions in 1...8 {
        _ = try await instance.deliverAll(stream)
        try await instance.streams.rewind(
          try await instance.interrupted(stream), to: start, "reset",
          interruptions: interruptions)
        let waiting = try await instance.streams.next(stream.id, limit: 10)
        #expect(waiting == nil)
        let state = try await instance.streams.find(stream.id).stream
        #expect(state.failures == interruptions && state.failure == .reported("reset"))
        let next = try #require(state.nextTryAt)
        waits.append(next.seconds - instance.now.seconds)
        instance.clock.advance(waits.last ?? 0)
      }
      #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60])
      let again = try await instance.deliverAll(stream).first?.sequence
      #expect(again == start.sequence + 1)
    }
  }

  @Test func `a head that may be unread is sent again although the entries before it were read`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream(.syslogTLS, "log.example.com:6514")
      try await instance.writeEntries(10)
      try await instance.sealAll()
      let sent = try await instance.deliverAll(stream)
      let head = try #require(sent.last { if case .head = $0.content { true } else { false } })
      try await instance.interrupt(
        stream, after: StreamPosition(sequence: head.sequence, head: head.sequence - 1))
      let again = try await instance.deliverAll(stream)
      #expect(again.map(\.sequence) == [head.sequence])
    }
  }

  @Test func `after a start, no stream waits any longer`() async throws {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.sealAll()
      let batch = try #require(try await instance.streams.next(stream.id, limit: 10))
      try await instance.streams.record(.postponed("down"), of: batch)
      try await instance.streams.begin()
      let due = try await instance.streams.due().due.map(\.id)
      #expect(due == [stream.id])
    }
  }

  @Test func `a signing secret that can't be decrypted stops only its stream, and is reported`()
    async throws
  {
    try await withInstance { instance in
      let stream = try await instance.addStream()
      try await instance.sealAll()
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ event_stream SET sealed_secret = \([UInt8](repeating: 0, count: 80))")
      }
      let batch = try await instance.streams.next(stream.id, limit: 10)
      #expect(batch == nil)
      let state = try await instance.streams.find(stream.id).stream
      #expect(state.failure == .undecryptable && state.failures == 1)
      let owner = try await instance.agent("olga", role: .owner)
      let kinds = try await instance.identity.unreadableSecrets.groups(
        visibleTo: owner.administrator
      ).map(\.kind)
      #expect(kinds == [.webhookSecret])
    }
  }
}
