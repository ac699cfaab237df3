import Crypto
import Database
import Foundation
import OTP
import TestDatabases
import Testing

@testable import Identity

/// A data folder of an earlier release is migrated at startup.
struct UpgradeTests {
  // No earlier release had PostgreSQL.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `accounts of an earlier release are counted, sorted, and found`() async throws {
    try await withEmptyDatabase { database in
      try await database.migrate([try #require(Identity.migrations(for: .sqlite).first)], at: 0)
      try await database.write { connection in
        try connection.run(
          """
          INSERT INTO project (project_id, number, display_name, email_privacy, created_at)
          VALUES ('old-app', 7, 'Old', 1, 0)
          """)
        try connection.run(
          """
          INSERT INTO scope (scope_key, project_id, display_name, password, email_link, anonymous,
            created_at, next_account, users)
          VALUES (3, 'old-app', 'Old', 1, 0, 0, 0, 700, 699)
          """)
        for number in 1..<700 {
          let email = number % 3 == 0 ? nil : "user\(number)@example.com"
          try connection.run(
            """
            INSERT INTO account (account_key, scope_key, uid, email, email_folded, email_verified,
              display_name, disabled, valid_since_s, created_at)
            VALUES (\(3 << 40 + number), 3, \("uid-\(number)"), \(email), \(email),
              \(number % 2 == 0), \("Näme \(1_000 - number)"), \(number % 10 == 0), 0, 0)
            """)
        }
      }
      let identity = try Identity(
        database: database, keys: KeyRing(random: .system), profile: .standalone, hasher: .cheap,
        mail: TestMail.writer,
        clock: FixedClock().wall)
      try await identity.prepare()
      let scope = try await identity.scopes.existing(project: ID("old-app"))
      let counts = try await identity.accounts.counts(scope)
      #expect(counts.users == 699 && counts.disabled == 69)
      #expect(counts.unverifiedEmails == (1..<700).count { $0 % 3 != 0 && $0 % 2 == 1 })
      let found = try await identity.accounts.search(scope, "name 997")
      #expect(found.accounts.map(\.id.text) == ["uid-3"])
      let first = try await identity.accounts.list(scope, sort: .name, limit: 2).items
      #expect(first.map(\.id.text) == ["uid-699", "uid-698"])
      // A second startup doesn't repeat the work.
      try await identity.prepare()
      #expect(try await identity.accounts.search(scope, "name 997").hits.count == 1)
    }
  }

  // No earlier release had PostgreSQL.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `projects with tenants that differ survive`() async throws {
    try await withEmptyDatabase { database in
      let earlier = Identity.migrations(for: .sqlite).prefix { $0.name != "m0045_instance_reports" }
      try await database.migrate(Array(earlier), at: 0)
      try await database.write { connection in
        for text in [
          """
          INSERT INTO project (project_id, number, display_name, email_privacy, created_at)
          VALUES ('old-app', 7, 'Old', 1, 0), ('same-app', 8, 'Same', 1, 0)
          """,
          """
          INSERT INTO scope (scope_key, project_id, tenant_id, display_name, password, email_link,
            anonymous, created_at, totp_state, totp_intervals)
          VALUES (3, 'old-app', '', 'Old', 1, 0, 0, 0, 2, 5),
            (4, 'old-app', 'east', 'East', 1, 0, 0, 0, 2, 1),
            (5, 'same-app', '', 'Same', 1, 0, 0, 0, 2, 5),
            (6, 'same-app', 'west', 'West', 1, 0, 0, 0, 2, NULL)
          """,
        ] as [SQL] { try connection.run(text) }
      }
      let identity = try Identity(
        database: database, keys: KeyRing(random: .system), profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: FixedClock().wall)
      try await identity.prepare()
      let iris = Administrator(
        id: ID("iris"), email: "", displayName: "", grants: [Grant(role: .auditor)])
      let differing = try await identity.pools.projects(visibleTo: iris, .differing)
      #expect(differing.items.map(\.id.text) == ["old-app"])
    }
  }

  // No earlier release had PostgreSQL.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `a code that an earlier release accepted while the clock was ahead locks no one out`()
    async throws
  {
    try await withEmptyDatabase { database in
      let earlier = Identity.migrations(for: .sqlite).prefix { $0.name != "m0059_unused_steps" }
      try await database.migrate(Array(earlier), at: 0)
      let now = Int64(Date().timeIntervalSince1970) / 30
      let ahead = now + 400 * 2_880
      try await database.write { connection in
        for text in [
          """
          INSERT INTO project (project_id, number, display_name, email_privacy, created_at)
          VALUES ('old-app', 7, 'Old', 1, 0)
          """,
          """
          INSERT INTO scope (scope_key, project_id, tenant_id, display_name, password, email_link,
            anonymous, created_at)
          VALUES (3, 'old-app', '', 'Old', 1, 0, 0, 0)
          """,
          """
          INSERT INTO account (account_key, scope_key, uid, email_verified, disabled, valid_since_s,
            created_at)
          VALUES (9, 3, 'uid', 0, 0, 0, 0)
          """,
          """
          INSERT INTO factor (account_key, position, enrollment_id, kind, enrolled_at, last_step)
          VALUES (9, 1, 'right', 'totp', 0, \(now)), (9, 2, 'ahead', 'totp', 0, \(ahead))
          """,
        ] as [SQL] { try connection.run(text) }
      }
      try await database.migrate(Identity.migrations(for: .sqlite), at: 0)
      let used = try await database.read { connection in
        try connection.all("SELECT last_step, unused_steps FROM factor ORDER BY position") {
          UsedSteps(last: try $0.value(0), unused: try $0.value(1))
        }
      }
      #expect(used.first == UsedSteps(last: now))
      #expect(used.last?.contains(now) == true && used.last?.contains(ahead) == true)
      #expect(used.last?.contains(now + 20) == false)
    }
  }

  @Test func `an interrupted startup resumes where it stopped`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let bob = try await instance.account(.bob)
      try await instance.database.write { connection in
        if connection.dialect == .sqlite {
          try connection.run(
            "INSERT /* test */ INTO account_search (account_search) VALUES ('delete-all')")
        }
        for text in [
          "DELETE /* test */ FROM account_text", "DELETE /* test */ FROM account_beginning",
          """
          UPDATE /* test */ instance SET value =
            (SELECT account_key FROM account WHERE uid = \(alice.id.text)) WHERE name = 'search_2'
          """,
        ] as [SQL] { try connection.run(text) }
      }
      try await instance.identity.prepare()
      let found = try await instance.identity.accounts.search(instance.acme, "example")
      #expect(found.accounts.map(\.id) == [bob.id])
      // In a real interruption, Alice would already be indexed. She isn't here, so delete her.
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
    }
  }
}
