import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What `purgeExpired()` does every minute.
struct CleanupTests {
  @Test func `a cleanup task that fails doesn't prevent the others`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      try await instance.identity.administrators.grant(
        Grant(role: .support), until: instance.now.advanced(bySeconds: 60), to: nora.id,
        by: .program(instance.author(boss)))
      instance.clock.advance(60)
      try await rename("sms_count", to: "moved_count", instance)
      await expect("unavailable") { try await instance.identity.purgeExpired() }
      #expect(try await endedRoles(instance) == 1)
      try await rename("moved_count", to: "sms_count", instance)
      try await instance.identity.purgeExpired()
    }
  }

  @Test func `a cleanup task is repeated until nothing is left`() async throws {
    try await withInstance { instance in
      let now = instance.now
      try await instance.database.write { connection in
        for number in 0..<1_200 {
          try connection.run(
            """
            INSERT INTO /* test */ throttle (name, failures, blocked_until, expires_at)
            VALUES (\("guess \(number)"), 1, 0, \(now.microseconds - 1))
            """)
        }
      }
      #expect(try await count("throttle", instance) == 1_200)
      try await instance.identity.purgeExpired()
      #expect(try await count("throttle", instance) == 0)
    }
  }

  @Test func `roles end in small transactions, however many owners are told`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let boss = try await instance.administrator("boss", .owner)
      for number in 0..<19 { _ = try await instance.administrator("owner-\(number)", .owner) }
      let end = instance.now.advanced(bySeconds: 60)
      for number in 0..<30 {
        let other = try await instance.administrator("other-\(number)", .auditor)
        try await instance.identity.administrators.grant(
          Grant(role: .support), until: end, to: other.id, by: .program(instance.author(boss)))
      }
      instance.clock.advance(60)
      let (outbox, now) = (instance.identity.store.outbox, instance.now)
      let before = instance.statements.count
      let isMore = try await instance.database.write { connection in
        try Administrators.endGrants(outbox, at: now, connection)
      }
      #expect(isMore)
      #expect(instance.statements.count - before < 3_000)
      #expect(try await endedRoles(instance) == CleanupLimit.costlyRows)
      try await instance.identity.purgeExpired()
      #expect(try await endedRoles(instance) == 30)
    }
  }

  private func endedRoles(_ instance: Instance) async throws -> Int {
    try await instance.wholeLog().count { $0.action == .administratorGrantEnd }
  }

  private func count(_ table: SQL, _ instance: Instance) async throws -> Int {
    try await instance.database.read { connection in
      try connection.first("SELECT /* test */ count(*) FROM \(table)") { try $0.next() } ?? 0
    }
  }

  private func rename(_ table: SQL, to name: SQL, _ instance: Instance) async throws {
    try await instance.database.write { connection in
      _ = try connection.run("ALTER TABLE /* test */ \(table) RENAME TO \(name)")
    }
  }
}
