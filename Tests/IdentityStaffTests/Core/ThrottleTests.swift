import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct ThrottleTests {
  @Test func `V6: the block after five wrong codes is 30 seconds, doubling up to an hour`() {
    let seconds = (1...14).map { Throttle.codes.seconds(afterFailures: $0) }
    #expect(seconds == [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600])
    #expect(Throttle.codes.seconds(afterFailures: .max) == 3_600)
  }

  @Test func `the block after ten wrong passwords is 30 seconds, doubling up to 15 minutes`() {
    let seconds = (9...16).map { Throttle.passwords.seconds(afterFailures: $0) }
    #expect(seconds == [0, 30, 60, 120, 240, 480, 900, 900])
  }

  /// Records an attempt under a name; returns nil if it was blocked.
  private func charge(
    _ instance: Instance, _ name: String, _ rule: Throttle
  ) async throws -> ThrottleCharge? {
    let now = instance.now
    let counter = ThrottleCounter(.passwords(of: ID(name)), rule, .name)
    return try await instance.database.write { connection in
      guard case .charged(let charges) = try ThrottleCharge.charge([counter], at: now, connection)
      else {
        return nil
      }
      return charges.first
    }
  }

  private func refund(_ instance: Instance, _ charge: ThrottleCharge) async throws {
    try await instance.database.write { try charge.refund($0) }
  }

  @Test func `an attempt that read the clock before another one isn't blocked by it`() async throws
  {
    try await withInstance { instance in
      let first = try await charge(instance, "x", .passwords)
      instance.clock.advance(microseconds: -500)
      let second = try await charge(instance, "x", .passwords)
      #expect(first != nil && second != nil)
    }
  }

  @Test func `after a clock that was ahead was set back, blocks end and attempts expire`()
    async throws
  {
    try await withInstance { instance in
      let rule = Throttle(free: 1, first: 30, longest: 60, leak: 60)
      instance.clock.advance(86_400)
      for _ in 0..<2 { _ = try await charge(instance, "x", rule) }
      #expect(try await charge(instance, "x", rule) == nil)
      instance.clock.advance(-86_400)
      // Not forgotten: this one is the third.
      #expect(try await charge(instance, "x", rule) != nil)
      #expect(try await charge(instance, "x", rule) == nil)
      instance.clock.advance(180)
      for _ in 0..<2 { #expect(try await charge(instance, "x", rule) != nil) }
      #expect(try await charge(instance, "x", rule) == nil)
    }
  }

  @Test func `an attempt that is returned lifts the block that it caused`() async throws {
    try await withInstance { instance in
      let rule = Throttle(free: 2, first: 30, longest: 60)
      for _ in 0..<2 { #expect(try await charge(instance, "x", rule) != nil) }
      for _ in 0..<3 {
        let third = try #require(try await charge(instance, "x", rule))
        #expect(try await charge(instance, "x", rule) == nil)
        try await refund(instance, third)
      }
      #expect(try await charge(instance, "x", rule) != nil)
      #expect(try await charge(instance, "x", rule) == nil)
    }
  }

  @Test func `an attempt that is returned doesn't lift another attempt's block`() async throws {
    try await withInstance { instance in
      let rule = Throttle(free: 1, first: 30, longest: 60)
      _ = try await charge(instance, "x", rule)
      let second = try #require(try await charge(instance, "x", rule))
      instance.clock.advance(30)
      #expect(try await charge(instance, "x", rule) != nil)
      try await refund(instance, second)
      #expect(try await charge(instance, "x", rule) == nil)
    }
  }

  @Test func `attempts expire one at a time without losing elapsed time`() async throws {
    try await withInstance { instance in
      let rule = Throttle(free: 10, first: 3_600, longest: 3_600, leak: 300)
      // One attempt every 200 s, and one expires every 300 s: i + 1 − ⌊2i / 3⌋ are counted
      // after attempt i. The eleventh causes the block at i = 28.
      var taken = 0
      while try await charge(instance, "x", rule) != nil {
        taken += 1
        instance.clock.advance(200)
      }
      #expect(taken == 29)
      instance.clock.advance(3_600)
      for _ in 0..<10 { #expect(try await charge(instance, "x", rule) != nil) }
    }
  }

  @Test func `an attempt refused by one counter isn't counted by any`() async throws {
    try await withInstance { instance in
      let now = instance.now
      let open = ThrottleCounter(.passwords(of: ID("open")), .passwords, .network)
      let closed = ThrottleCounter(.passwords(of: ID("closed")), .passwords, .name)
      for _ in 0..<10 { _ = try await charge(instance, "closed", .passwords) }
      let (refused, known) = try await instance.database.write { connection in
        let taken = try ThrottleCharge.charge([open, closed], at: now, connection)
        guard case .blocked(let until) = taken else { return (false, 1) }
        let count = try connection.first(
          "SELECT /* test */ count(*) FROM throttle WHERE name LIKE '% open'"
        ) { try $0.next() as Int }
        return (until == now.advanced(bySeconds: 30), count ?? 0)
      }
      #expect(refused && known == 0)
    }
  }

  @Test func `a changed password clears the attempts of all networks for that name only`()
    async throws
  {
    try await withInstance { instance in
      for name in ["x", "x 203.0.113.5", "x 2001:db8:0:0::/64", "x2", "x2 203.0.113.5"] {
        _ = try await charge(instance, name, .passwords)
      }
      let left = try await instance.database.write { connection in
        try ThrottleCharge.reset(.passwords(of: ID("x")), connection)
        return try connection.all("SELECT /* test */ name FROM throttle ORDER BY name") {
          try $0.next() as String
        }
      }
      #expect(
        left == ["administrator password x2", "administrator password x2 203.0.113.5"])
    }
  }

  @Test func `a name is dropped a day after its last attempt`() async throws {
    try await withInstance { instance in
      let rule = Throttle.codes
      for _ in 0..<5 { _ = try await charge(instance, "x", rule) }
      #expect(try await charge(instance, "x", rule) == nil)
      instance.clock.advance(86_400)
      for _ in 0..<4 { #expect(try await charge(instance, "x", rule) != nil) }
    }
  }
}
