import Crypto
import Database
import Foundation
import Identity
import OTP
import TestDatabases
import Testing

@testable import TestIdentity

/// Tests which removed factors an undo can restore.
struct UndoTests {
  /// A user whose app Dora has removed.
  private struct Case {
    let instance: Instance
    let device: Device
    let dora: Agent
    let erik: Agent
    let removal: Removal

    var account: ID<Account> { device.account.id }

    init(
      _ instance: Instance, reason: SupportReason = .lost, hours: Int? = nil, all: Bool = false
    ) async throws {
      self.instance = instance
      device = try await instance.enrolled(.alice)
      dora = try await instance.agent()
      erik = try await instance.agent("erik")
      if let hours {
        var settings = SupportRules()
        settings.undoHours = hours
        try await instance.identity.support.change(
          instance.acme, to: settings, by: .program(Instance.boss))
      }
      removal = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, all ? nil : device.factor, dora.request(reason)
      ).value.removal
    }

    func undo(_ agent: Agent, code: String = "") async throws -> Restoration {
      let id = removal.hold?.id ?? ID("none")
      return try await instance.identity.factorRemovals.undo(
        instance.acme, account, id, agent.request(.mistake, code: code)
      ).value
    }

    /// Returns the number of stored secrets of removed factors.
    func secrets() async throws -> Int {
      try await instance.database.read { connection in
        try connection.first(
          "SELECT /* test */ count(*) FROM removed_factor WHERE sealed_secret IS NOT NULL"
        ) { try $0.next() as Int } ?? -1
      }
    }

    func factors() async throws -> [String] {
      try await instance.reload(device.account).factors.map(\.id.text)
    }
  }

  @Test func `another administrator undoes a removal and restores the factor unchanged`()
    async throws
  {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      let hold = try #require(fixture.removal.hold)
      #expect(hold.until == instance.now.advanced(bySeconds: 72 * 3_600))
      let between = try await instance.session(.alice)
      await expect("ownRemoval") { try await fixture.undo(fixture.dora) }
      let listed = try await instance.records(of: fixture.device.account).removalHolds
      #expect(listed.map(\.id) == [hold.id] && listed.first?.removerName == "Dora Support")
      let restored = try await fixture.undo(fixture.erik)
      #expect(restored.sessionsEnded == 1)
      #expect(try await fixture.factors() == [fixture.device.factor.text])
      #expect(try await fixture.secrets() == 0)
      // Earlier sessions stay ended, and sessions started without the factor have ended too.
      for session in [fixture.device.session, between.session] {
        await expect("tokenExpired") { try await instance.identity.sessions.check(session) }
      }
      let pending = try await instance.pending(.alice)
      instance.clock.advance(60)
      _ = try await instance.finalize(
        fixture.device, pending, code: fixture.device.code(at: instance.now))
      let row = try #require(try await instance.log().first { $0.action == .factorRestore })
      #expect(row.actorName == "erik" && row.reason == "mistake")
      #expect(row.hasFactor(fixture.device.factor.text))
      await expect("factorNotFound") { try await fixture.undo(fixture.erik) }
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 1)
    }
  }

  @Test func `a code used before a removal isn't accepted after the undo`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let used = try device.code(at: instance.now)
      _ = try await instance.finalize(device, instance.pending(.alice), code: used)
      let dora = try await instance.agent()
      let erik = try await instance.agent("erik")
      let removal = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, dora.request()
      ).value.removal
      let id = try #require(removal.hold?.id)
      _ = try await instance.identity.factorRemovals.undo(
        instance.acme, device.account.id, id, erik.request(.mistake))
      let pending = try await instance.pending(.alice)
      await expect("invalidCode") { try await instance.finalize(device, pending, code: used) }
      instance.clock.advance(30)
      _ = try await instance.finalize(device, pending, code: device.code(at: instance.now))
    }
  }

  @Test(arguments: [SupportReason.stolen, .compromised])
  func `L4: a factor that may be in someone else's hands is never restored`(reason: SupportReason)
    async throws
  {
    try await withInstance { instance in
      let fixture = try await Case(instance, reason: reason)
      #expect(fixture.removal.hold == nil)
      #expect(try await fixture.secrets() == 0)
      await expect("factorNotFound") { try await fixture.undo(fixture.erik) }
    }
  }

  @Test func `removing a stolen factor also ends the undo of earlier removals`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let dora = try await instance.agent()
      let factorRemovals = instance.identity.factorRemovals
      let first = try await factorRemovals.remove(
        instance.acme, device.account.id, device.factor, dora.request()
      ).value.removal
      _ = try await factorRemovals.remove(
        instance.acme, device.account.id, nil, dora.request(.stolen))
      let id = try #require(first.hold?.id)
      let erik = try await instance.agent("erik")
      await expect("factorNotFound") {
        try await factorRemovals.undo(instance.acme, device.account.id, id, erik.request(.mistake))
      }
    }
  }

  @Test func `without an undo period, a removal purges the factor immediately`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance, hours: 0)
      #expect(fixture.removal.hold == nil && fixture.removal.undoHours == 0)
      #expect(try await fixture.secrets() == 0)
    }
  }

  @Test func `L4: after the undo period a removal is final and the secret is purged`()
    async throws
  {
    try await withInstance { instance in
      let fixture = try await Case(instance, hours: 1)
      instance.clock.advance(3_599)
      try await instance.identity.purgeExpired()
      #expect(try await fixture.secrets() == 1)
      instance.clock.advance(1)
      try await instance.reauthenticate(fixture.erik.session)
      await expect("factorNotFound") { try await fixture.undo(fixture.erik) }
      try await instance.identity.purgeExpired()
      #expect(try await fixture.secrets() == 0)
      let rows = try await instance.log().filter { $0.action == .factorPurge }
      #expect(rows.count == 1 && rows.first?.actorKind == "server")
      #expect(rows.first?.hadFactor(fixture.device.factor.text) == true)
      try await instance.identity.purgeExpired()
      #expect(try await instance.log().map(\.action).tally[.factorPurge] == 1)
    }
  }

  // PostgreSQL keeps deleted rows in its files until it vacuums them.
  @Test(.enabled(if: TestDatabase.isSQLite), arguments: [SupportReason.lost, .stolen])
  func `no trace of a purged secret remains in the database file, not even encrypted`(
    reason: SupportReason
  ) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let id = device.factor.text
      let sealed = try #require(
        try await instance.database.read { connection in
          try connection.first(
            "SELECT /* test */ sealed_secret FROM factor WHERE enrollment_id = \(id)"
          ) { try $0.next() as [UInt8] }
        })
      #expect(try await isInFile(sealed, instance))
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor,
        try await instance.agent().request(reason))
      #expect(try await isInFile(sealed, instance) == (reason == .lost))
      instance.clock.advance(72 * 3_600)
      try await instance.identity.purgeExpired()
      #expect(try await !isInFile(sealed, instance))
    }
  }

  /// Returns whether the database file contains the bytes after a checkpoint.
  private func isInFile(_ bytes: [UInt8], _ instance: Instance) async throws -> Bool {
    try await instance.database.checkpoint()
    return try Data(contentsOf: URL(filePath: try #require(instance.test.path))).firstRange(
      of: bytes) != nil
  }

  @Test func `enrolling a new factor purges the removed one in the same transaction`() async throws
  {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      let new = try await instance.enroll(try await instance.session(.alice).session)
      #expect(try await fixture.secrets() == 0)
      await expect("factorNotFound") { try await fixture.undo(fixture.erik) }
      // Unenrolling the new factor doesn't change that.
      _ = try await instance.identity.enrollments.withdraw(
        new.session, enrollment: new.factor.text, by: Instance.visitor)
      await expect("factorNotFound") { try await fixture.undo(fixture.erik) }
      try await instance.identity.purgeExpired()
      #expect(try await instance.log().map(\.action).tally[.factorPurge] == 1)
    }
  }

  @Test func `an undo restores all factors of a removal together and in order`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let dora = try await instance.agent()
      let erik = try await instance.agent("erik")
      let factorRemovals = instance.identity.factorRemovals
      let removal = try await factorRemovals.remove(
        instance.acme, device.account.id, nil, dora.request()
      ).value.removal
      let id = try #require(removal.hold?.id)
      let done = try await factorRemovals.undo(
        instance.acme, device.account.id, id, erik.request(.mistake)
      ).value
      #expect(done.hold.factors.count == 2)
      let account = try await instance.reload(device.account)
      #expect(account.factors.map(\.id.text) == [device.factor.text, "second"])
    }
  }

  @Test func `the entry of an undo says how many backup codes it revoked`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let id = device.account.id
      try await instance.addPhone("phone", to: id)
      let (dora, erik) = (try await instance.agent(), try await instance.agent("erik"))
      let removals = instance.identity.factorRemovals
      let removal = try await removals.remove(
        instance.acme, id, ID("phone"), dora.request()
      ).value.removal
      _ = try await instance.temporaryCode(device.account, by: erik)
      _ = try await removals.undo(
        instance.acme, id, try #require(removal.hold?.id), erik.request(.mistake))
      let row = try #require(try await instance.log().first { $0.action == .factorRestore })
      #expect(row.new(.temporaryCodesEnded) == .number(1))
      #expect(row.new(.recoveryCodesEnded) == nil)
    }
  }

  @Test func `an undo requires re-authentication, as a removal does`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      instance.clock.advance(15 * 60)
      await expect("noSecondFactor") { try await fixture.undo(fixture.erik) }
      let fred = try await instance.agentWithDevice("fred")
      instance.clock.advance(15 * 60)
      await expect("codeRequired") { try await fixture.undo(fred) }
      let code = try #require(fred.device).code(at: instance.now)
      _ = try await fixture.undo(fred, code: code)
    }
  }

  @Test func `exactly one of many concurrent undos restores the factor`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      let outcomes = try await concurrently(8) { _ in
        await outcome { try await fixture.undo(fixture.erik) }
      }
      #expect(outcomes.tally == ["done": 1, "factorNotFound": 7])
      #expect(try await instance.log().map(\.action).tally[.factorRestore] == 1)
    }
  }

  @Test func `another user's removal isn't found`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      let bob = try await instance.enrolled(.bob)
      let id = try #require(fixture.removal.hold?.id)
      let factorRemovals = instance.identity.factorRemovals
      await expect("factorNotFound") {
        try await factorRemovals.undo(
          instance.acme, bob.account.id, id, fixture.erik.request(.mistake))
      }
      await expect("accountNotFound") {
        try await factorRemovals.undo(
          instance.east, fixture.account, id, fixture.erik.request(.mistake))
      }
    }
  }

  @Test func `deleting an account deletes its removed factors`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      try await instance.identity.accounts.delete(
        instance.acme, fixture.account, by: Instance.boss)
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM removed_factor") {
          try $0.next() as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `an interrupted purge resumes, and each factor has one audit row`() async throws {
    try await withInstance { instance in
      let fixture = try await Case(instance, hours: 1)
      let (account, now) = (fixture.account.text, instance.now.microseconds)
      // More factors than one batch purges.
      try await instance.database.write { connection in
        try connection.run(
          """
          WITH RECURSIVE /* test */ n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 449)
          INSERT INTO removed_factor (account_key, enrollment_id, removal_id, removed_at, removed_by,
            remover_name, until, position, kind, enrolled_at, sealed_secret)
          SELECT account_key, 'f' || i, 'r', CAST(\(now) AS BIGINT), 'x', 'X',
            CAST(\(now + 1) AS BIGINT), i, 'totp', CAST(\(now) AS BIGINT),
            (SELECT sealed_secret FROM removed_factor LIMIT 1)
          FROM account, n WHERE uid = \(account)
          """)
      }
      instance.clock.advance(3_600)
      // Purge one batch, as if the process had been killed after it.
      #expect(try await instance.purgeBatch())
      #expect(try await fixture.secrets() == 250)
      let other = try instance.identity()
      try await other.prepare()
      try await other.purgeExpired()
      #expect(try await fixture.secrets() == 0)
      let rows = try await instance.log().filter { $0.action == .factorPurge }
      #expect(rows.count == 450 && Set(rows.map { $0.old(.factors) }).count == 450)
    }
  }

  @Test func `rotating the master key re-encrypts removed factors`()
    async throws
  {
    try await withInstance { instance in
      let fixture = try await Case(instance)
      let ring = try await instance.rotateMasterKey().ring
      ring.adopt(ring.newestAlone())
      let again = try instance.identity(keys: ring)
      let id = try #require(fixture.removal.hold?.id)
      _ = try await again.factorRemovals.undo(
        instance.acme, fixture.account, id, fixture.erik.request(.mistake))
      let outcome = try await again.signIns.password(
        instance.acme, email: Person.alice.email, password: Person.alice.password,
        address: "203.0.113.5")
      guard case .secondFactorDue(_, let pending, _) = outcome else {
        throw Unexpected("no second factor is required")
      }
      instance.clock.advance(60)
      _ = try await again.signIns.finalize(
        project: instance.acme.project, tenant: nil, pendingCredential: pending,
        enrollment: fixture.device.factor.text,
        code: TypedCode(fixture.device.code(at: instance.now)))
    }
  }

  @Test func `a factor removed during a key rotation is encrypted with the newest key`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let ring = try KeyRing(text: instance.keys.text.revealedText)
      ring.adopt(ring.rotated(random: .system))
      let identity = try instance.identity(keys: ring)
      try await identity.masterKeys.begin(by: Instance.boss)
      let dora = try await instance.agent()
      _ = try await identity.factorRemovals.remove(
        instance.acme, device.account.id, device.factor, dora.request())
      let sealing = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM removed_factor") {
          try $0.next() as [UInt8]
        }
      }
      #expect(Hex.encode(Array(try #require(sealing)[1..<5])) == ring.ids[0])
    }
  }
}
