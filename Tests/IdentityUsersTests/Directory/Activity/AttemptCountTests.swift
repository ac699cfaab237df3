import Identity
import Testing

@testable import TestIdentity

struct AttemptCountTests {
  @Test func `sums of hours that a wrong clock showed as past are read again`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let key = instance.acme.key
      let (start, end) = (
        instance.now.advanced(bySeconds: 86_400), instance.now.advanced(bySeconds: 2 * 86_400)
      )
      func count() async throws -> Int {
        while try await identity.activity.fold() {}
        return try await identity.activity.attemptCounts(of: [key], since: start, at: end)[key]?.all
          ?? 0
      }
      let device = try await instance.enrolled(.alice)
      #expect(try await identity.clockGuard.check() == nil)
      instance.clock.advance(2 * 86_400)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      let before = try await count()
      instance.clock.advance(-2 * 86_400)
      #expect(try await identity.clockGuard.check() != nil)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      instance.clock.advance(86_400 + 43_200)
      _ = try await instance.finalize(
        device, try await instance.pending(.alice), code: device.code(at: instance.now))
      instance.clock.advance(3 * 3_600)
      let after = try await count()
      #expect(before == 0 && after == 1)
    }
  }

  @Test func `accepted and rejected codes of the last days are counted, by pool and project`()
    async throws
  {
    try await withInstance { instance in
      let activity = instance.identity.activity
      let keys = [instance.acme.key, instance.east.key]
      func counts(_ days: Int, isWhole: Bool = false) async throws -> [Int64: AttemptCounts] {
        while try await activity.fold() {}
        return try await activity.attemptCounts(
          of: keys, isWhole: isWhole,
          since: instance.now.advanced(bySeconds: -Int64(days) * 86_400), at: instance.now)
      }
      let own = try await instance.enrolled(.alice)
      let other = try await instance.enrolled(.bob, in: instance.east)
      let before = try await counts(30)
      let (first, second) = (
        before[instance.acme.key] ?? AttemptCounts(), before[instance.east.key] ?? AttemptCounts()
      )
      instance.clock.advance(3_600)
      _ = try await instance.enterCode(own, code: own.wrongCode(at: instance.now))
      _ = try await instance.enterCode(
        other, code: other.wrongCode(at: instance.now), in: instance.east)
      instance.clock.advance(60)
      _ = try await instance.enterCode(own, code: own.code(at: instance.now))
      for hours in [0, 1, 5, 24] as [Int64] {
        instance.clock.advance(hours * 3_600)
        let month = try await counts(30)
        #expect(month[instance.acme.key]?.rejected == first.rejected + 1)
        #expect(month[instance.acme.key]?.accepted == first.accepted + 1)
        #expect(month[instance.east.key]?.rejected == second.rejected + 1)
      }
      let whole = try await counts(7, isWhole: true)
      #expect(whole[instance.acme.key]?.rejected == first.rejected + second.rejected + 2)
      instance.clock.advance(8 * 86_400)
      let week = try await counts(7)
      #expect(week.isEmpty)
    }
  }

  @Test func `sums of hours whose attempts aren't folded yet aren't kept`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.fold()
      try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      instance.clock.advance(5 * 3_600)
      let before = try await instance.rejectedToday()
      try await instance.fold()
      let after = try await instance.rejectedToday()
      #expect(before == 0 && after == 1)
    }
  }

  @Test func `sums from before the stored time has passed the end of their hours aren't kept`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.fold()
      #expect(try await instance.identity.clockGuard.check() == nil)
      instance.clock.advance(5 * 3_600)
      // Neither this time nor the attempt is stored yet.
      let before = try await instance.rejectedToday()
      instance.clock.advance(-5 * 3_600)
      try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      try await instance.fold()
      instance.clock.advance(5 * 3_600)
      let after = try await instance.rejectedToday()
      #expect(before == 0 && after == 1)
    }
  }

  @Test
  func `attempts are counted while the clock is doubted, and numbers of users aren't recorded`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      let device = try await instance.enrolled(.alice)
      try await instance.fold()
      #expect(try await identity.clockGuard.check() == nil)
      instance.clock.advance(400 * 86_400)
      #expect(try await identity.clockGuard.check() != nil)
      try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
      _ = try await instance.account(.bob)
      func users() async throws -> Int? {
        while try await identity.foldActivity() {}
        return try await identity.activity.enrollment(
          of: instance.acme, at: instance.now.advanced(bySeconds: 3_600))?.users
      }
      let whileDoubted = try await users()
      #expect(try await instance.rejectedToday() == 1)
      #expect(whileDoubted == 1)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      #expect(try await users() == 2)
      instance.clock.advance(5 * 3_600)
      #expect(try await instance.rejectedToday() == 1)
    }
  }

  @Test func `the sums of many pools take few statements, once`() async throws {
    try await withInstance { instance in
      let activity = instance.identity.activity
      let keys = [instance.acme.key] + Array(1_000_000..<1_001_500 as Range<Int64>)
      let own = try await instance.enrolled(.alice)
      _ = try await instance.enterCode(own, code: own.wrongCode(at: instance.now))
      instance.clock.advance(5 * 3_600)
      while try await activity.fold() {}
      func rejected() async throws -> Int? {
        try await activity.attemptCounts(
          of: keys, since: instance.now.advanced(bySeconds: -86_400), at: instance.now
        )[instance.acme.key]?.rejected
      }
      let start = instance.statements.count
      let first = try await rejected()
      let read = instance.statements.count - start
      #expect(read == 6, "two for the sums, two for whether they're final, two for the last hours")
      let again = try await rejected()
      #expect(first == again && (first ?? 0) > 0)
      #expect(instance.statements.count - start - read == 2)
    }
  }
}

extension Instance {
  /// Counts the rejected codes of the last day.
  fileprivate func rejectedToday() async throws -> Int {
    try await identity.activity.attemptCounts(
      of: [acme.key], since: now.advanced(bySeconds: -86_400), at: now
    )[acme.key]?.rejected ?? 0
  }
}
