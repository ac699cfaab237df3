import Database
import Testing

@testable import Identity

struct SMSLimitsTests {
  private let limits = SMSLimits(perPool: 4, perRegion: 2)

  /// Returns, for each number, whether a message may be sent to it.
  private func charge(
    _ numbers: [String], forSignIn: Bool = false, in scope: Scope, _ instance: Instance
  ) async throws -> [Bool] {
    let (limits, now) = (limits, instance.now)
    return try await instance.database.write { connection in
      try numbers.map {
        try limits.charge($0, forSignIn: forSignIn, in: scope, at: now, connection) == nil
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
        try limits.charge("+493013", forSignIn: false, in: acme, at: now, connection)
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

  @Test func `phone sign-in can't use the last quarter of a pool's limit`() async throws {
    try await withInstance { instance in
      let numbers = ["+493011", "+33111", "+1202555", "+4411"]
      // Nobody needs the rest in a pool without second factors by text message.
      #expect(
        try await charge(numbers, forSignIn: true, in: instance.globex, instance)
          == [true, true, true, true])
      try await instance.allowPhones()
      let signIn = try await charge(numbers, forSignIn: true, in: instance.acme, instance)
      #expect(signIn == [true, true, true, false])
      let factor = try await charge(["+4411", "+4412"], in: instance.acme, instance)
      #expect(factor == [true, false])
    }
  }

  @Test func `phone sign-in leaves messages of a region to second factors`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let limits = SMSLimits(perPool: 100, perRegion: 4)
      let gateway = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: instance.clock.wall, smsLimits: limits)
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(id: "mobile", displayName: nil, phoneNumber: "+4915100000009")
      ])
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let pending = try await instance.pending(.alice)
      var outcomes: [String] = []
      for number in 0..<5 {
        outcomes.append(
          await outcome {
            try await gateway.signIns.sendCode(
              instance.acme, instance.request("+491510000000\(number)"))
          })
      }
      #expect(outcomes == ["done", "done", "done", "quotaExceeded", "quotaExceeded"])
      let (now, acme) = (instance.now, instance.acme)
      // The limit of phone sign-in is an alert, too.
      let reached = try await instance.database.read { connection in
        try limits.reached(in: acme, at: now, connection)
      }
      #expect(reached == 3)
      _ = try await gateway.signIns.startPhone(
        project: acme.project, tenant: nil, pendingCredential: pending, enrollment: "mobile",
        language: "en", address: "203.0.113.5")
      let sent = try await instance.messages().filter { $0.hasSuffix("+4915100000009") }
      #expect(sent.count == 1)
    }
  }
}
