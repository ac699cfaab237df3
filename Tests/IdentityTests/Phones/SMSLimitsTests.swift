import Database
import Testing

@testable import Identity

struct SMSLimitsTests {
  private let limits = SMSLimits(perPool: 4, perRegion: 2)

  /// Returns, for each number, whether a message may be sent to it.
  private func charge(
    _ numbers: [String], isKnown: Bool = true, in pool: Pool, _ instance: Instance
  ) async throws -> [Bool] {
    let (limits, now) = (limits, instance.now)
    return try await instance.database.write { connection in
      try numbers.map {
        try limits.charge($0, isKnown: isKnown, in: pool, at: now, connection) == nil
      }
    }
  }

  @Test func `a region and a pool have daily limits of their own`() async throws {
    try await withInstance { instance in
      let german = try await charge(
        ["+493011", "+493012", "+493013"], in: instance.acme, instance)
      #expect(german == [true, true, false])
      let others = try await charge(
        ["+33111", "+1202555", "+33112"], in: instance.acme, instance)
      #expect(others == [true, true, false])
      let tenant = try await charge(["+493014"], in: instance.east, instance)
      #expect(tenant == [true])
    }
  }

  @Test func `a new day begins at midnight in UTC`() async throws {
    try await withInstance { instance in
      _ = try await charge(["+493011", "+493012"], in: instance.acme, instance)
      let (limits, now, acme) = (limits, instance.now, instance.acme)
      let until = try await instance.database.write { connection in
        try limits.charge("+493013", isKnown: true, in: acme, at: now, connection)
      }
      let next = Instant(seconds: (now.day + 1) * 86_400)
      #expect(until == next)
      instance.clock.advance(next.seconds - now.seconds)
      #expect(try await charge(["+493013"], in: instance.acme, instance) == [true])
    }
  }

  @Test func `a reached limit is found, and old counts are deleted`() async throws {
    try await withInstance { instance in
      let (limits, now, acme) = (limits, instance.now, instance.acme)
      _ = try await charge(["+493011"], in: instance.acme, instance)
      let before = try await instance.database.read { connection in
        try limits.reached(in: acme, at: now, connection)
      }
      _ = try await charge(["+493012"], in: instance.acme, instance)
      let after = try await instance.database.read { connection in
        try limits.reached(in: acme, at: now, connection)
      }
      #expect(before == nil && after == 2)
      let left = try await instance.database.write { connection in
        _ = try SMSLimits.purgeExpired(at: now.advanced(bySeconds: 2 * 86_400), connection)
        return try connection.first("SELECT /* test */ count(*) FROM sms_count") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `half of each limit is reserved for known numbers`() async throws {
    try await withInstance { instance in
      // Two of four messages of the pool, and one of two of the region.
      let numbers = ["+493011", "+493012", "+33111", "+1202555"]
      var open: [Bool] = []
      for number in numbers {
        open += try await charge([number], isKnown: false, in: instance.acme, instance)
        instance.clock.advance(3_600)
      }
      #expect(open == [true, false, true, false])
      #expect(try await charge(["+493013"], in: instance.acme, instance) == [true])
    }
  }

  @Test func `unknown numbers get a tenth of their half in an hour`() async throws {
    try await withInstance { instance in
      var sent = [try await send(isKnown: false, 5, instance)]
      sent.append(try await send(isKnown: true, 30, instance))
      instance.clock.advance(3_600)
      sent.append(try await send(isKnown: false, 5, instance))
      sent.append(try await send(isKnown: true, 10, instance))
      #expect(sent == [2, 30, 2, 6])
    }
  }

  /// Returns how many of `count` messages to one number may be sent, of 40 a day in its region.
  private func send(isKnown: Bool, _ count: Int, _ instance: Instance) async throws -> Int {
    let numbers = Array(repeating: "+493011", count: count)
    let (limits, acme, now) = (SMSLimits(perPool: 400, perRegion: 40), instance.acme, instance.now)
    return try await instance.database.write { connection in
      try numbers.map {
        try limits.charge($0, isKnown: isKnown, in: acme, at: now, connection) == nil
      }
    }.filter(\.self).count
  }
}
