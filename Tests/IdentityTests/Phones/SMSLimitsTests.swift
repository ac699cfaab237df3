import Database
import Testing

@testable import Identity

struct SMSLimitsTests {
  private let limits = SMSLimits(perPool: 4, perRegion: 2)

  /// Returns, for each number, whether a message may be sent to it.
  private func charge(
    _ numbers: [String], isKnown: Bool = true, in scope: Scope, _ instance: Instance
  ) async throws -> [Bool] {
    let (limits, now) = (limits, instance.now)
    return try await instance.database.write { connection in
      try numbers.map {
        try limits.charge($0, isKnown: isKnown, in: scope, at: now, connection) == nil
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
          try $0.value(0) as Int
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
      let (limits, acme) = (SMSLimits(perPool: 400, perRegion: 40), instance.acme)
      func send(isKnown: Bool, _ count: Int) async throws -> Int {
        let now = instance.now
        return try await instance.database.write { connection in
          try (0..<count).filter { _ in
            try limits.charge("+493011", isKnown: isKnown, in: acme, at: now, connection) == nil
          }.count
        }
      }
      #expect(try await send(isKnown: false, 5) == 2)
      #expect(try await send(isKnown: true, 30) == 30)
      instance.clock.advance(3_600)
      #expect(try await send(isKnown: false, 5) == 2)
      #expect(try await send(isKnown: true, 10) == 6)
    }
  }

  @Test func `strangers' requests leave messages of a region to second factors and accounts`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowPhones()
      let limits = SMSLimits(perPool: 100, perRegion: 4)
      let gateway = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: instance.clock.wall, smsLimits: limits)
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.phoneNumber = .set("+4915100000008")
      change.factors = .replace([
        FactorEntry(id: "mobile", displayName: nil, phoneNumber: "+4915100000009")
      ])
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let pending = try await instance.pending(.alice)
      var outcomes: [String] = []
      for number in 0..<2 {
        outcomes.append(
          await outcome {
            try await gateway.signIns.sendCode(
              instance.acme, instance.request("+491510000000\(number)"))
          })
      }
      #expect(outcomes == ["done", "quotaExceeded"])
      _ = try await gateway.signIns.sendCode(instance.acme, instance.request("+4915100000008"))
      _ = try await gateway.signIns.startPhone(
        project: instance.acme.project, tenant: nil, pendingCredential: pending,
        enrollment: "mobile", language: "en", address: "203.0.113.5")
      let sent = try await instance.messages().filter { $0.hasPrefix("sms ") }
      #expect(sent.count == 3)
    }
  }
}
