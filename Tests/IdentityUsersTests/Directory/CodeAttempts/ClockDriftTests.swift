import Identity
import Testing

@testable import TestIdentity

struct ClockDriftTests {
  /// Enters codes and returns the clock drift derived from them, for which the list of users with a
  /// wrong clock has the user.
  ///
  /// Each code has its distance in time steps and the seconds to wait before it.
  private func drift(
    _ window: Int, _ codes: [(steps: Int64, wait: Int64)]
  ) async throws -> ClockDrift? {
    var found: ClockDrift?
    try await withInstance { instance in
      try await instance.setWindow(window)
      try await instance.setCodeCap(100)
      let device = try await instance.enrolled(.alice)
      for (steps, wait) in codes {
        instance.clock.advance(wait)
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: steps))
      }
      found = ClockDrift(try await instance.codeAttempts(device.account))
      let listed = try await instance.identity.accounts.list(instance.acme, filter: .clockOff)
      #expect(listed.items.map(\.id) == (found == nil ? [] : [device.account.id]))
    }
    return found
  }

  @Test func `two codes with about the same delay indicate a slow clock, accepted or not`()
    async throws
  {
    #expect(try await drift(5, [(-3, 3_600), (-3, 3_600)]) == ClockDrift(steps: -3))
    #expect(try await drift(1, [(-8, 3_600), (-7, 60)]) == ClockDrift(steps: -7))
    #expect(try await drift(3, [(-4, 3_600), (-3, 3_600)]) == ClockDrift(steps: -3))
    #expect(try await drift(0, [(6, 3_600), (6, 3_600)])?.isSlow == false)
  }

  @Test func `a near miss that no other code agrees with doesn't indicate drift`() async throws {
    #expect(try await drift(1, [(-8, 3_600)]) == nil)
    #expect(try await drift(1, [(4, 3_600), (-8, 60)]) == nil)
    #expect(try await drift(1, [(-4, 3_600), (-8, 60)]) == nil)
  }

  @Test func `the same code entered twice is treated as one`() async throws {
    #expect(try await drift(1, [(-4, 3_600), (-5, 30)]) == nil)
  }

  @Test func `a clock that is now correct isn't reported`() async throws {
    #expect(try await drift(5, [(-4, 3_600), (-4, 600), (0, 600)]) == nil)
    #expect(try await drift(5, [(-1, 3_600), (-1, 600)]) == nil)
  }

  @Test func `unrelated codes in between are ignored`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let device = try await instance.enrolled(.alice)
      for _ in 0..<2 {
        instance.clock.advance(600)
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: -6))
        try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      }
      let drift = try #require(ClockDrift(try await instance.codeAttempts(device.account)))
      #expect((drift.steps, drift.seconds, drift.isSlow) == (-6, 180, true))
    }
  }
}
