import Crypto
import Database
@testable import Identity
import TestDatabases
import Testing

@testable import TestIdentity

@Suite struct RestoreTests {
  private static let admin = Author(actor: .commandLine)

  private func restore(
    _ instance: Instance, keepsSessions: Bool = false, former: (any Database)? = nil
  ) async throws -> RestoreReport {
    try await instance.identity.endTheRestoredPast(
      file: "monday.sqlite", keepsSessions: keepsSessions, former: former, by: Self.admin)
  }

  @Test func `a restore ends earlier sessions and uses up the time steps until now`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let owner = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(60)
      let console = try await instance.signIn(owner)
      instance.clock.advance(60)
      let pending = try await instance.pending(.alice)
      let report = try await restore(instance)
      #expect(report.consoleSessions ?? 0 >= 1 && report.sessions ?? 0 >= 1)
      await expect("tokenExpired") { try await instance.identity.sessions.check(alice.session) }
      let found = try await instance.identity.consoleSessions.find(
        token: console.token.revealedText)
      #expect(found == nil)
      // Credentials issued before are invalid, even if their use was never recorded.
      instance.clock.advance(30)
      await expect("invalidPendingCredential") {
        _ = try await instance.finalize(alice, pending, code: alice.code(at: instance.now))
      }
      instance.clock.advance(-29)
      await expect("invalidCode") {
        _ = try await instance.finalize(
          alice, try await instance.pending(.alice), code: alice.code(at: instance.now))
      }
      instance.clock.advance(30)
      _ = try await instance.finalize(
        alice, try await instance.pending(.alice), code: alice.code(at: instance.now))
    }
  }

  @Test func `sessions are preserved only on request, as the audit log shows`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      instance.clock.advance(60)
      let report = try await restore(instance, keepsSessions: true)
      #expect(report.sessions == nil && report.consoleSessions == nil && !report.isCompared)
      _ = try await instance.identity.sessions.check(alice.session)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .instanceRestore && row.actorKind == "command line")
      #expect(row.new(.fileName) == .text("monday.sqlite") && row.new(.sessionsKept) == .flag(true))
      _ = try await restore(instance)
      let other = try #require(try await instance.wholeLog().first)
      #expect(other.new(.sessionsKept) == nil)
    }
  }

  @Test func `pending removals, temporary codes, and invitations are closed`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let alice = try await instance.enrolled(.alice)
      _ = try await instance.temporaryCode(alice.account)
      let agent = try await instance.agent()
      try await instance.addUsers(2)
      let job = try await instance.draft("user-0@example.com", by: agent)
      try await instance.begin(job, by: agent)
      let report = try await restore(instance)
      #expect(report.temporaryCodes == 1 && report.bulkRemovals == 1)
      try await instance.runAll()
      #expect(try await instance.job(job, by: agent).state == .stopped)
      let now = instance.now.microseconds
      let left = try await instance.database.read { connection in
        try connection.first(
          """
          SELECT (SELECT count(*) FROM backup_code_set WHERE kind = 'temporary')
            + (SELECT count(*) FROM invitation)
            + (SELECT count(*) FROM oob_code WHERE expires_at > \(now)) /* test */
          """
        ) { try $0.next() as Int }
      }
      #expect(left == 0)
    }
  }

  @Test func `links that the restored data says weren't used expire, and others stay used`()
    async throws
  {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      _ = try await instance.account(.alice, isVerified: false)
      let used = try await instance.code(.verifyEmail)
      _ = try await codes.apply(used, in: instance.acme, by: Instance.visitor)
      let open = try await instance.code(.passwordReset)
      instance.clock.advance(60)
      let report = try await restore(instance)
      #expect(report.links == 1)
      await expect("expiredCode") { try await codes.look(at: open) }
      await expect("usedCode") { try await codes.look(at: used) }
      let (ended, kept) = (try await codes.remains(of: open), try await codes.remains(of: used))
      #expect(ended?.usedAt == nil && ended?.isExpiredEarly == true)
      #expect(kept?.usedAt != nil && kept?.isExpiredEarly == false)
    }
  }

  @Test func `an unsent message with a link says that it wasn't sent because of the restore`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice, isVerified: false)
      _ = try await instance.code(.passwordReset)
      let report = try await restore(instance)
      #expect(report.messages == 1)
      let entry = try #require(
        try await instance.entries().first { $0.purpose == "reset-password" })
      #expect(entry.state == .withdrawn && entry.lastError == .restored)
    }
  }

  @Test func `codes used in the former database stay used`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let alice = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, alice)
      try await instance.test.withRestored { restored, former in
        instance.clock.advance(60)
        // After the backup, a code is used.
        _ = try await instance.signIn(.alice, alice, code: codes[0])
        let identity = try Identity(
          database: restored, keys: instance.keys, profile: .standalone, hasher: .cheap,
          mail: TestMail.writer,
          clock: instance.clock.wall)
        let report = try await identity.endTheRestoredPast(
          file: "f", keepsSessions: false, former: former, by: Self.admin)
        #expect(report.recoveryCodes == 1 && report.isCompared)
        let kept = try await restored.read { connection in
          try connection.first("SELECT count(*) FROM backup_code WHERE kind = 'recovery'") {
            try $0.next() as Int
          }
        }
        #expect(kept == codes.count - 1)
      }
    }
  }

  @Test func `a backup is inspected for its origin, version, and key`() async throws {
    try await withInstance { instance in
      let stored = try await Identity.inspect(instance.database, keys: instance.keys)
      #expect(stored.profile == .standalone && stored.pendingMigrations.isEmpty)
      #expect(stored.latest != nil)
      let fault = try await thrown(BackupFault.self) {
        _ = try await Identity.inspect(instance.database, keys: KeyRing(random: .system))
      }
      guard case .wrongKey? = fault else { throw Unexpected("\(String(describing: fault))") }
    }
    try await withEmptyDatabase { database in
      let fault = try await thrown(BackupFault.self) {
        _ = try await Identity.inspect(database, keys: KeyRing(random: .system))
      }
      guard case .notCountersign? = fault else { throw Unexpected("\(String(describing: fault))") }
    }
  }

  @Test func `a database in use isn't migrated, and an empty one isn't taken for an instance`()
    async throws
  {
    try await withInstance { instance in
      try await instance.identity.prepare(creates: false, migrates: false)
      let migrations = Identity.migrations(for: TestDatabase.dialect)
      try await instance.database.write { connection in
        for later in migrations.later {
          try connection.run("DELETE FROM schema_migration /* test */ WHERE name = \(later.name)")
        }
        _ = try connection.run(
          "UPDATE schema_migration /* test */ SET name = \(migrations.upgradable)")
      }
      let error = try await thrown(StartError.self) {
        try await instance.identity.prepare(migrates: false)
      }
      guard case .notMigrated(let names)? = error,
        names == ([migrations.upgrade] + migrations.later).map(\.name)
      else {
        throw Unexpected("\(String(describing: error))")
      }
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE schema_migration /* test */ SET name = \(migrations.baseline.name)")
      }
    }
    try await withEmptyDatabase { database in
      let identity = try Identity(
        database: database, keys: KeyRing(random: .system), profile: .standalone, hasher: .cheap,
        mail: TestMail.writer,
        clock: FixedClock().wall)
      await expect("empty") {
        try await identity.prepare(creates: false)
      }
    }
  }
}
