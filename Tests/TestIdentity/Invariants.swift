import Database
import Testing

@testable import Identity

extension Instance {
  /// Expects counts to match the data, before and after they're folded, and the database to be
  /// intact.
  func expectSoundData() async throws {
    try await expectSoundCounts()
    while try await identity.activity.fold() {}
    try await expectSoundCounts()
    try await expectSoundIndexes()
    #expect(try await ActivityRecount.reachFaults(database) == [])
    let faults = try await database.read { connection in
      try connection.all("SELECT /* test */ name FROM \(SQL.orphans)") {
        try $0.next() as String
      }
        + connection.all("SELECT /* test */ fault FROM \(SQL.faults)") {
          try $0.next() as String
        }
    }
    #expect(faults == [])
  }

  /// Expects the counts of pools and projects to equal a recount.
  func expectSoundCounts() async throws {
    let rows = try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ s.project_id || '/' || s.tenant_id,
          \(AccountCounts.current("users")), \(AccountCounts.current("enrolled_users")),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key)),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND (a.has_totp = 1 OR a.has_phone = 1)),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL
            AND NOT a.account_key BETWEEN s.scope_key << 40 AND ((s.scope_key + 1) << 40) - 1),
          \(AccountCounts.current("unverified_users")), \(AccountCounts.current("disabled_users")),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL
            AND a.email IS NOT NULL AND a.email_verified = 0),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND a.disabled = 1),
          \(AccountCounts.current("totp_users")), \(AccountCounts.current("phone_users")),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND a.has_totp = 1
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key
              AND f.kind = 'totp')),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND a.has_phone = 1
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key
              AND f.kind = 'phone' AND f.phone IS NOT NULL)),
          (SELECT count(DISTINCT account_key) FROM factor f JOIN account a USING (account_key)
            WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND f.kind = 'totp'),
          (SELECT count(DISTINCT account_key) FROM factor f JOIN account a USING (account_key)
            WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL AND f.kind = 'phone'),
          \(AccountCounts.current("locked_users")),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.gone_at IS NULL
            AND a.codes_blocked_until IS NOT NULL),
          (SELECT count(*) FROM code_attempt v WHERE v.scope_key = s.scope_key
            AND v.account_key NOT IN (SELECT account_key FROM account)),
          (SELECT count(*) FROM code_attempt v JOIN account a USING (account_key)
            WHERE v.scope_key = s.scope_key AND v.at <> a.last_code_attempt_at
              AND NOT EXISTS (SELECT 1 FROM code_attempt n WHERE n.scope_key = v.scope_key
                AND n.account_key = v.account_key AND n.previous = v.at))
        FROM scope s
        """
      ) { row in
        let pool: String = try row.next()
        let numbers: [Int] = try (1...20).map { _ in try row.next() }
        return (pool, numbers)
      }
    }
    for (pool, numbers) in rows {
      #expect(numbers[0] == numbers[2], "users of \(pool)")
      #expect(numbers[1] == numbers[3], "enrolled users of \(pool)")
      #expect(numbers[3] == numbers[4], "accounts marked as enrolled in \(pool)")
      #expect(numbers[6] == numbers[8], "unverified users of \(pool)")
      #expect(numbers[7] == numbers[9], "disabled users of \(pool)")
      #expect(Array(numbers[10...11]) == Array(numbers[12...13]), "users by kind in \(pool)")
      #expect(Array(numbers[10...11]) == Array(numbers[14...15]), "marks by kind in \(pool)")
      #expect(numbers[5] == 0, "account keys outside \(pool)")
      #expect(numbers[16] == numbers[17], "locked users of \(pool)")
      #expect(numbers[18] == 0, "code attempts without an account in \(pool)")
      #expect(numbers[19] == 0, "unreachable code attempts in \(pool)")
    }
    try await expectSoundProjects()
  }

  /// Expects the search index and derived columns to match the accounts.
  private func expectSoundIndexes() async throws {
    let faults = try await database.write { connection in
      if connection.dialect == .sqlite {
        // FTS5 compares its index with the texts, and fails if they differ.
        try connection.run(
          """
          INSERT /* test */ INTO account_search (account_search, rank) VALUES ('integrity-check', 1)
          """)
      }
      return try connection.all(
        """
        SELECT /* test */ 'no search text of ' || uid FROM account
          WHERE account_key NOT IN (SELECT account_key FROM account_text)
        UNION ALL SELECT 'search text without an account: ' || account_key FROM account_text
          WHERE account_key NOT IN (SELECT account_key FROM account)
        UNION ALL SELECT 'wrong day of the last sign-in of ' || uid FROM account
          WHERE last_login_day <> coalesce(last_login_at / 86400000000, 0)
        UNION ALL SELECT 'wrong has_providers of ' || uid FROM account a
          WHERE (has_providers = 1) <> EXISTS (SELECT 1 FROM account_provider p
            WHERE p.account_key = a.account_key AND p.scope_key = a.scope_key)
        UNION ALL SELECT 'neither hosted nor mirrored, or both: ' || uid FROM account
          WHERE (hosted IS NULL) <> (mirror_digest IS NOT NULL AND asked_at IS NOT NULL)
        UNION ALL SELECT 'wrong mark of a hosted identity: ' || q.raw_id FROM account_provider q
          JOIN account a USING (account_key) WHERE q.hosted IS DISTINCT FROM a.hosted
        UNION ALL SELECT 'wrong suspension of ' || uid FROM account a
          WHERE suspended_until IS DISTINCT FROM (SELECT max(f.suspended_until) FROM factor f
            WHERE f.account_key = a.account_key)
        UNION ALL SELECT 'search beginning without an account: ' || beginning FROM account_beginning
          WHERE account_key NOT IN (SELECT account_key FROM account)
        """
      ) { try $0.next() as String }
    }
    #expect(faults == [])
  }

  /// Expects the counts of each project to equal the sums over its pools.
  private func expectSoundProjects() async throws {
    let rows = try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ p.project_id, p.tenants,
          \(AccountCounts.current(ofProject: "users")),
          \(AccountCounts.current(ofProject: "enrolled_users")),
          count(*) FILTER (WHERE s.tenant_id <> '' AND s.deleted_at IS NULL),
          coalesce(sum(\(AccountCounts.current("users"))) FILTER (WHERE s.deleted_at IS NULL), 0),
          coalesce(sum(\(AccountCounts.current("enrolled_users")))
            FILTER (WHERE s.deleted_at IS NULL), 0)
        FROM project p JOIN scope s USING (project_id) GROUP BY p.project_id
        """
      ) { row in
        (try row.next() as String, try (1...6).map { _ in try row.next() as Int })
      }
    }
    for (project, numbers) in rows {
      #expect(Array(numbers[..<3]) == Array(numbers[3...]), "counts of \(project)")
    }
  }
}
