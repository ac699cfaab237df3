import Crypto
import Database
import Foundation
@testable import Identity
import OTP
import Synchronization
import TestDatabases
import Testing

@testable import TestIdentity

/// Tests codes after the server's clock was ahead and was set back.
struct ClockAheadTests {
  private static let days: Int64 = 400 * 86_400

  @Test func `a sign-in that began while the clock was ahead can't be finished after it`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      instance.clock.advance(Self.days)
      let pending = try await instance.pending(.alice)
      instance.clock.advance(-Self.days)
      instance.clock.advance(30)
      let code = try device.code(at: instance.now)
      await expect("pendingExpired") { try await instance.finalize(device, pending, code: code) }
      #expect(await instance.entering(code, device) == "done")
    }
  }

  @Test func `V1: a code stays used after a sign-in while the clock was ahead`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let used = try device.code(at: instance.now)
      #expect(await instance.entering(used, device) == "done")
      instance.clock.advance(Self.days)
      #expect(await instance.entering(try device.code(at: instance.now), device) == "done")
      instance.clock.advance(-Self.days)
      #expect(await instance.entering(used, device) == "invalidCode")
      instance.clock.advance(30)
      #expect(await instance.entering(try device.code(at: instance.now), device) == "done")
    }
  }

  @Test func `V1: a code that was used while the clock was ahead stays used when it's ahead again`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(Self.days)
      let (code, own) = (try alice.code(at: instance.now), try olga.code(at: instance.now))
      #expect(await instance.entering(code, alice) == "done")
      #expect(await instance.entering(own, olga) == "done")
      instance.clock.advance(-Self.days)
      #expect(await instance.entering(try alice.code(at: instance.now), alice) == "done")
      #expect(await instance.entering(try olga.code(at: instance.now), olga) == "done")
      instance.clock.advance(Self.days)
      #expect(await instance.entering(code, alice) == "invalidCode")
      #expect(await instance.entering(own, olga) == "usedCode")
    }
  }

  @Test func `V1: codes used while the clock was ahead stay used after a restore`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(Self.days)
      let (code, own) = (try alice.code(at: instance.now), try olga.code(at: instance.now))
      try await instance.test.withRestored { restored, former in
        #expect(await instance.entering(code, alice) == "done")
        #expect(await instance.entering(own, olga) == "done")
        instance.clock.advance(-Self.days)
        #expect(await instance.entering(try alice.code(at: instance.now), alice) == "done")
        let now = instance.now.seconds / 30
        let rows = try await stepsAfterRestore(restored, replacing: former, instance)
        #expect(rows.count == 2)
        for used in rows {
          #expect(used.contains(now) && used.contains(now + Self.days / 30))
          #expect(!used.contains(now + 1) && !used.contains(now + Self.days / 30 + 1))
        }
      }
    }
  }

  /// Ends a restored database's past, and returns the used steps of its secrets.
  private func stepsAfterRestore(
    _ restored: any Database, replacing former: any Database, _ instance: Instance
  ) async throws -> [UsedSteps] {
    let identity = try Identity(
      database: restored, keys: instance.keys, profile: .standalone, hasher: .cheap,
      mail: TestMail.writer, clock: instance.clock.wall)
    _ = try await identity.endTheRestoredPast(
      file: "f", keepsSessions: false, former: former, by: Author(actor: .commandLine))
    return try await restored.read { connection in
      try connection.all(
        """
        SELECT last_step, unused_steps FROM factor
        UNION ALL SELECT totp_last_step, totp_unused_steps FROM administrator
        WHERE totp_secret IS NOT NULL
        """
      ) { UsedSteps(last: try $0.next(), unused: try $0.next()) }
    }
  }

  @Test func `a restore while the clock is ahead keeps the codes of the correct time`() async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      try await instance.test.withRestored { restored, former in
        instance.clock.advance(60)
        let used = instance.now.seconds / 30
        #expect(await instance.entering(try alice.code(at: instance.now), alice) == "done")
        #expect(await instance.entering(try olga.code(at: instance.now), olga) == "done")
        instance.clock.advance(86_400)
        let now = instance.now.seconds / 30
        let rows = try await stepsAfterRestore(restored, replacing: former, instance)
        #expect(rows.count == 2)
        for steps in rows {
          #expect(steps.contains(used) && steps.contains(used - 1_000))
          #expect(steps.contains(now) && steps.contains(now - 10) && !steps.contains(now + 1))
          // Half an hour later by the correct time.
          #expect(!steps.contains(used + 60))
        }
      }
    }
  }

  @Test func `what's issued after a restore while the clock was ahead is valid once it's right`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      instance.clock.advance(60)
      let ahead = instance.now.advanced(bySeconds: 86_400)
      try await instance.database.write { try RestoreMark.set(ahead, $0) }
      await expect("invalidPendingCredential") {
        _ = try await instance.finalize(
          alice, try await instance.pending(.alice), code: alice.code(at: instance.now))
      }
      let earlier = try await instance.pending(.alice)
      try await instance.identity.purgeExpired()
      instance.clock.advance(30)
      await expect("invalidPendingCredential") {
        _ = try await instance.finalize(alice, earlier, code: alice.code(at: instance.now))
      }
      _ = try await instance.finalize(
        alice, try await instance.pending(.alice), code: alice.code(at: instance.now))
    }
  }

  @Test func `records of tickets are kept until the clock has been steady for their lifetime`()
    async throws
  {
    try await withInstance { instance in
      let steady = Mutex(Duration.zero)
      let server = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: instance.clock.wall, steady: { steady.withLock { $0 } })
      func pass(_ seconds: Int64) async throws {
        instance.clock.advance(seconds)
        steady.withLock { $0 += .seconds(seconds) }
        #expect(try await server.clockGuard.check() == nil)
        try await server.purgeExpired()
      }
      func records() async throws -> Int {
        try await instance.database.read { connection in
          try connection.first("SELECT count(*) FROM /* test */ ticket") { try $0.next() } ?? 0
        }
      }
      _ = try await instance.enrolled(.alice)
      let before = try await records()
      #expect(before > 0)
      // The server starts while the clock is ahead.
      instance.clock.advance(2 * 3_600)
      try await pass(0)
      #expect(try await records() == before)
      try await pass(Ticket.recordLifetime - 1)
      // A jump that's trusted.
      instance.clock.advance(1_800)
      try await pass(1)
      try await pass(Ticket.recordLifetime - 1)
      #expect(try await records() == before)
      try await pass(1)
      #expect(try await records() == 0)
    }
  }

  @Test func `a block on codes and a message from while the clock was ahead don't last`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      // What was queued before.
      while try await instance.identity.deliveries.claim() != nil {}
      instance.clock.advance(Self.days)
      for _ in 0..<5 {
        #expect(
          await instance.entering(try device.wrongCode(at: instance.now), device) != "done")
      }
      var change = AccountChange()
      change.email = .set("new@example.com")
      try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      instance.clock.advance(-Self.days)
      #expect(try await instance.reload(device.account).codesBlockedUntil != nil)
      #expect(try await instance.identity.deliveries.claim() == nil)
      try await instance.identity.purgeExpired()
      #expect(try await instance.reload(device.account).codesBlockedUntil == nil)
      #expect(try await instance.identity.deliveries.claim() != nil)
    }
  }

  /// The clock jumps and drifts; the model is the set of accepted pairs.
  @Test(arguments: 0..<6 as Range<UInt64>)
  func `V1: neither a user's nor an administrator's code is accepted twice, whatever the clock did`(
    seed: UInt64
  ) async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      try await instance.identity.clockGuard.check()
      let start = instance.now
      var random = Seeded(seed)
      var accepted: [Set<Int64>] = [[], []]
      for _ in 0..<60 {
        let days = [0, 0, 400, -400, 1, 30][Int.random(in: 0..<6, using: &random)]
        let real = start.advanced(bySeconds: Int64.random(in: 0...600, using: &random))
        let now = real.advanced(bySeconds: Int64(days) * 86_400)
        instance.clock.advance(now.seconds - instance.now.seconds)
        if Bool.random(using: &random) { try await instance.identity.clockGuard.check() }
        let step = now.seconds / 30 + Int64.random(in: -1...1, using: &random)
        try await instance.forgetWrongCodes(alice, olga)
        let offset = step - now.seconds / 30
        let results = [
          await instance.entering(try alice.code(at: now, steps: offset), alice),
          await instance.entering(try olga.code(at: now, steps: offset), olga),
        ]
        for (index, result) in results.enumerated() where result == "done" {
          #expect(accepted[index].insert(step).inserted, "\(index): \(step) after \(days) days")
        }
      }
      #expect(accepted.allSatisfy { $0.count > 4 })
      // An hour later, with the right clock.
      instance.clock.advance(start.seconds + 4_200 - instance.now.seconds)
      try await instance.forgetWrongCodes(alice, olga)
      #expect(await instance.entering(try alice.code(at: instance.now), alice) == "done")
      #expect(await instance.entering(try olga.code(at: instance.now), olga) == "done")
    }
  }
}

extension Instance {
  fileprivate func entering(_ code: String, _ device: Device) async -> String {
    do { return try await enterCode(device, code: code) } catch { return "\(error)" }
  }

  fileprivate func entering(_ code: String, _ device: OwnDevice) async -> String {
    do {
      _ = try await signIn(device, code: code)
      return "done"
    } catch { return "\(error)" }
  }

  /// Lets every code of a user and of an administrator be checked.
  fileprivate func forgetWrongCodes(_ user: Device, _ owner: OwnDevice) async throws {
    try await database.write { connection in
      try AccountRecord.unlockCodes(user.account.key, connection)
      try ThrottleCharge.reset(.codes(of: owner.administrator.id), connection)
    }
  }
}
