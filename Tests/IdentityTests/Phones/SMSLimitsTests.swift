import Database
import Testing

@testable import Identity

struct SMSLimitsTests {
  private let limits = SMSLimits(perPool: 4, perRegion: 2)

  /// Returns, for each number, whether a message may be sent to it.
  private func charge(
    _ numbers: [String], in scope: Scope, _ instance: Instance
  ) async throws -> [Bool] {
    let (limits, now) = (limits, instance.now)
    return try await instance.database.write { connection in
      try numbers.map { try limits.charge($0, in: scope, at: now, connection) == nil }
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
        try limits.charge("+493013", in: acme, at: now, connection)
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
          try $0.value(0) as Int
        }
      }
      #expect(left == 0)
    }
  }
}
