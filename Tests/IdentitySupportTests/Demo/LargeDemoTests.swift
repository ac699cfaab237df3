import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import LargeDemo
@testable import TestIdentity

struct LargeDemoTests {
  private static let now = Instant(seconds: 1_790_000_000)

  private func withDemo(
    users: Int, seed: UInt64 = 5,
    _ body: (Identity, any Database, [String]) async throws -> Void
  ) async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      let identity = try Identity(
        database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
        clock: WallClock { Self.now })
      try await identity.prepare()
      let indexes = try await Self.indexes(database)
      let demo = try LargeDemo(
        users: users, database: database, keys: keys, hasher: .cheap, mail: TestMail.writer,
        seed: seed, now: Self.now)
      let count = try await demo.fill { _ in }
      #expect(count == users + 1_000)
      try await body(identity, database, indexes)
    }
  }

  private static func indexes(_ database: any Database) async throws -> [String] {
    try await database.read { connection in
      try connection.all(
        "SELECT name || ' ' || text FROM \(SQL.indexes) ORDER BY name"
      ) { try $0.next() as String }
    }
  }

  private static func rows(_ query: SQL, _ database: any Database) async throws -> [String] {
    try await database.read { connection in
      try connection.all(query) { try $0.next() as String }
    }
  }

  @Test func `the demo preserves every index and has correct counts`() async throws {
    try await withDemo(users: 1_500) { identity, database, indexes in
      #expect(try await Self.indexes(database) == indexes)
      #expect(try await ActivityRecount.countFaults(database) == [])
      #expect(try await ActivityRecount.reachFaults(database) == [])
      let wrong = try await Self.rows(
        """
        SELECT s.display_name FROM scope s WHERE
          \(AccountCounts.current("users"))
            <> (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key)
          OR \(AccountCounts.current("totp_users")) <> (SELECT count(*) FROM account a JOIN factor f USING (account_key)
            WHERE a.scope_key = s.scope_key AND a.has_totp = 1 AND f.kind = 'totp')
          OR \(AccountCounts.current("phone_users")) <> (SELECT count(DISTINCT account_key) FROM account a
            JOIN factor f USING (account_key) WHERE a.scope_key = s.scope_key AND f.kind = 'phone')
          OR \(AccountCounts.current("enrolled_users")) <> (SELECT count(DISTINCT account_key) FROM account a
            JOIN factor f USING (account_key) WHERE a.scope_key = s.scope_key)
          OR \(AccountCounts.current("disabled_users")) <> (SELECT count(*) FROM account a
            WHERE a.scope_key = s.scope_key AND disabled = 1)
          OR \(AccountCounts.current("unverified_users")) <> (SELECT count(*) FROM account a
            WHERE a.scope_key = s.scope_key AND email_verified = 0)
          OR \(AccountCounts.current("locked_users")) <> (SELECT count(*) FROM account a
            WHERE a.scope_key = s.scope_key AND codes_blocked_until IS NOT NULL)
        UNION ALL SELECT uid FROM account WHERE last_login_day <> coalesce(last_login_at / 86400000000, 0)
        UNION ALL SELECT uid FROM account a WHERE last_code_attempt_at
          IS DISTINCT FROM (SELECT max(at) FROM code_attempt v WHERE v.account_key = a.account_key)
        UNION ALL SELECT 'chain ' || v.account_key FROM code_attempt v WHERE previous IS DISTINCT FROM
          (SELECT max(at) FROM code_attempt b WHERE b.account_key = v.account_key AND b.at < v.at)
        UNION ALL SELECT fault FROM \(SQL.faults)
        """, database)
      #expect(wrong == [])
      let pool = try await identity.pools.existing(project: ID("metropolis"))
      let counts = try await identity.accounts.counts(pool)
      #expect(counts.users == 1_500 && counts.locked > 0 && counts.disabled > 0)
      #expect(counts.enrolledUsers > 1_250 && counts.phoneUsers > 400)
      // An account created afterwards gets an unused key.
      var new = NewAccount()
      new.email = "late@example.com"
      _ = try await identity.accounts.create(pool, new, by: .program(Author(actor: .commandLine)))
      #expect(try await identity.accounts.search(pool, "late@").accounts.count == 1)
    }
  }

  @Test func `the same seed generates the same demo`() async throws {
    var contents: [[String]] = []
    for seed in [5, 5, 6] as [UInt64] {
      try await withDemo(users: 200, seed: seed) { identity, database, _ in
        contents.append(
          try await Self.rows(
            """
            SELECT uid || email || display_name || created_at || coalesce(CAST(last_login_at AS TEXT), '')
            FROM account
            UNION ALL SELECT enrollment_id || coalesce(phone, '') || CASE WHEN sealed_secret IS NULL THEN 1 ELSE 0 END
              FROM factor
            UNION ALL SELECT at || result || coalesce(CAST(distance AS TEXT), '') || address FROM code_attempt
            """, database
          ).sorted())
      }
    }
    #expect(contents[0] == contents[1])
    #expect(contents[0] != contents[2])
  }

  @Test func `one user has five factors and 3,000 code attempts, and another has none`()
    async throws
  {
    try await withDemo(users: 300) { identity, database, _ in
      let pool = try await identity.pools.existing(project: ID("metropolis"))
      let users = try await identity.accounts.lookup(pool, emails: LargeDemoCrowd.special)
      #expect(users.map(\.factors.count) == [5, 0])
      let first = try #require(users.first)
      #expect(try await identity.codeAttempts.list(first).items.count == 20)
      let given = try await Self.rows(
        "SELECT count(*) || '' FROM code_attempt WHERE account_key = \(first.key)", database)
      #expect(try #require(given.first.flatMap { Int($0) }) > 2_500)
      #expect(try await identity.codeAttempts.list(try #require(users.last)).items.isEmpty)
      // The secret can be decrypted for this account.
      let factor = try #require(first.factors.first)
      let now = Self.now
      let finding = try await database.write { connection in
        try identity.signIns.totp.check(
          "000000", for: factor.id, of: first, in: pool, window: .standard, at: now, connection)
      }
      #expect(finding.result != .unreadable)
    }
  }
}
