import Database
import DatabaseSQLite
import Identity
import Synchronization
import Testing

/// The texts of all statements that the product ran in a test.
final class Statements: Sendable {
  private let texts = Mutex<Set<String>>([])

  var all: Set<String> { texts.withLock { $0 } }

  func record(_ text: String) {
    // Tests mark their own statements.
    guard !text.contains("/* test */") else { return }
    texts.withLock { _ = $0.insert(text) }
  }
}

extension Instance {
  /// Expects stored counts to match the data, and the database to be intact.
  func expectSoundData() async throws {
    let rows = try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ s.project_id || '/' || s.tenant_id, s.users, s.enrolled_users,
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key)),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND (a.has_totp OR a.has_phone)),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key
            AND NOT a.account_key BETWEEN s.scope_key << 40 AND ((s.scope_key + 1) << 40) - 1),
          s.unverified_users, s.disabled_users,
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key
            AND a.email IS NOT NULL AND a.email_verified = 0),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.disabled = 1),
          s.totp_users, s.phone_users,
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.has_totp
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key
              AND f.kind = 'totp')),
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key AND a.has_phone
            AND EXISTS (SELECT 1 FROM factor f WHERE f.account_key = a.account_key
              AND f.kind = 'phone' AND f.phone IS NOT NULL)),
          (SELECT count(DISTINCT account_key) FROM factor f JOIN account a USING (account_key)
            WHERE a.scope_key = s.scope_key AND f.kind = 'totp'),
          (SELECT count(DISTINCT account_key) FROM factor f JOIN account a USING (account_key)
            WHERE a.scope_key = s.scope_key AND f.kind = 'phone'),
          s.locked_users,
          (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key
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
        let scope: String = try row.value(0)
        let numbers: [Int] = try (1...20).map { try row.value($0) }
        return (scope, numbers)
      }
    }
    for (scope, numbers) in rows {
      #expect(numbers[0] == numbers[2], "users of \(scope)")
      #expect(numbers[1] == numbers[3], "enrolled users of \(scope)")
      #expect(numbers[3] == numbers[4], "accounts marked as enrolled in \(scope)")
      #expect(numbers[6] == numbers[8], "unverified users of \(scope)")
      #expect(numbers[7] == numbers[9], "disabled users of \(scope)")
      #expect(Array(numbers[10...11]) == Array(numbers[12...13]), "users by kind in \(scope)")
      #expect(Array(numbers[10...11]) == Array(numbers[14...15]), "marks by kind in \(scope)")
      #expect(numbers[5] == 0, "account keys outside \(scope)")
      #expect(numbers[16] == numbers[17], "locked users of \(scope)")
      #expect(numbers[18] == 0, "code attempts without an account in \(scope)")
      #expect(numbers[19] == 0, "unreachable code attempts in \(scope)")
    }
    try await expectSoundIndexes()
    try await expectSoundProjects()
    try await expectSoundReach()
    let faults = try await database.read { connection in
      try connection.all("SELECT \"table\" FROM pragma_foreign_key_check") {
        try $0.value(0) as String
      }
        + connection.all("SELECT integrity_check FROM pragma_integrity_check") {
          try $0.value(0) as String
        }
    }
    #expect(faults == ["ok"])
  }

  /// Expects the search index and derived columns to match the accounts.
  private func expectSoundIndexes() async throws {
    let faults = try await database.write { connection in
      // FTS5 compares its index with the texts, and fails if they differ.
      try connection.run(
        """
        INSERT /* test */ INTO account_search (account_search, rank) VALUES ('integrity-check', 1)
        """)
      return try connection.all(
        """
        SELECT /* test */ 'no search text of ' || uid FROM account
          WHERE account_key NOT IN (SELECT account_key FROM account_text)
        UNION ALL SELECT 'search text without an account: ' || account_key FROM account_text
          WHERE account_key NOT IN (SELECT account_key FROM account)
        UNION ALL SELECT 'wrong day of the last sign-in of ' || uid FROM account
          WHERE last_login_day <> ifnull(last_login_at / 86400000000, 0)
        UNION ALL SELECT 'wrong has_providers of ' || uid FROM account a
          WHERE has_providers <> EXISTS (SELECT 1 FROM account_provider p
            WHERE p.account_key = a.account_key AND p.scope_key = a.scope_key)
        UNION ALL SELECT 'wrong suspension of ' || uid FROM account a
          WHERE suspended_until IS NOT (SELECT max(f.suspended_until) FROM factor f
            WHERE f.account_key = a.account_key)
        UNION ALL SELECT 'search beginning without an account: ' || beginning FROM account_beginning
          WHERE account_key NOT IN (SELECT account_key FROM account)
        """
      ) { try $0.value(0) as String }
    }
    #expect(faults == [])
  }

  /// Expects the numbers and lists of users by reach to match the accounts once they're folded.
  private func expectSoundReach() async throws {
    while try await identity.activity.fold() {}
    #expect(try await ActivityRecount.reachFaults(database) == [])
  }

  /// Expects the counts of each project to equal the sums over its pools.
  private func expectSoundProjects() async throws {
    let rows = try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ p.project_id, p.tenants, p.users, p.enrolled_users,
          count(*) FILTER (WHERE s.tenant_id <> '' AND s.deleted_at IS NULL),
          coalesce(sum(s.users) FILTER (WHERE s.deleted_at IS NULL), 0),
          coalesce(sum(s.enrolled_users) FILTER (WHERE s.deleted_at IS NULL), 0)
        FROM project p JOIN scope s USING (project_id) GROUP BY p.project_id
        """
      ) { row in
        (try row.value(0) as String, try (1...6).map { try row.value($0) as Int })
      }
    }
    for (project, numbers) in rows {
      #expect(Array(numbers[..<3]) == Array(numbers[3...]), "counts of \(project)")
    }
  }

  /// Expects that no statement scanned a table or sorted without an index.
  func expectPlansWithoutScans() async throws {
    for text in statements.all where Plans.isNew(text) {
      let faults = try await Plans.faults(of: text, database)
      #expect(faults.isEmpty, "\(text)")
    }
  }
}

/// Checks of SQLite's query plans.
enum Plans {
  /// Statements that may scan or sort, by a part of their text, and why.
  static let allowed: [String: String] = [
    "FROM administrator ORDER BY": "administrators are few, and all of them are listed",
    "FROM administrator_grant WHERE (ends_at": "administrators are few, and all of them are listed",
    "FROM support_hold h CROSS JOIN": "blocked agents are few, and all of them are listed",
    "FROM invitation ORDER BY": "invitations are few, and all of them are listed",
    "FROM administrator_grant\nWHERE role":
      "administrators are few; read at the start and during setup",
    "FROM signing_key": "keys are few, and read at the start and when one is created",
    "UPDATE evidence_key SET retired_at": "keys are few, and retired one by one",
    "FROM evidence_key": "keys are few, and all of them are listed",
    "FROM master_key": "there is one key, or two during a rotation",
    "FROM schema_migration": "migrations are few, and read once at the start",
    "FROM service_token WHERE project_id": "the tokens of one project are few, and sorted",
    "s.tenant_id IN (": "the tenants of an administrator's grants are few, and sorted",
    "AS place FROM scope s": "the tenants of one project are sorted by unindexed values",
    "approval v INDEXED BY approval_waiting": "pending requests are few, and have an index",
  ]

  /// Statements that run only at the start or during a restore, and why they may scan or sort.
  private static let allowedOffline: [String: String] = [
    "FROM audit ORDER BY audit_id DESC LIMIT 1": "the last row by its key, read at the start",
    "FROM session ORDER BY session_id DESC LIMIT 1": "the last row by its key, read at the start",
    "FROM pragma_": "all of a backup is checked",
    "FROM sqlite_schema": "the tables of a backup are few",
    "sum(users), 0) FROM scope": "a backup is counted once, when it is restored",
  ]

  /// Returns whether a line is a text search within a range of keys: the match M and both bounds.
  private static func isMatch(_ line: String) -> Bool {
    line.hasPrefix("SCAN account_search VIRTUAL TABLE INDEX") && line.hasSuffix(":M1><")
  }

  private static let seen = Mutex<Set<String>>([])

  /// Returns whether a statement wasn't checked yet in any test.
  static func isNew(_ text: String) -> Bool { seen.withLock { $0.insert(text).inserted } }

  static func faults(of text: String, _ database: SQLiteDatabase) async throws -> [String] {
    guard !text.hasPrefix("CREATE") else { return [] }
    let plan = try await database.queryPlan(of: text)
    try IndexUses.record(text, plan: plan)
    guard !allowed.keys.contains(where: { text.contains($0) }),
      !allowedOffline.keys.contains(where: { text.contains($0) })
    else { return [] }
    return plan.filter { line in
      line.hasPrefix("SCAN") && !line.contains(" CONSTANT ROW") && !isMatch(line)
        // The rows found by a recursion so far, not a table.
        && line != "SCAN chain"
        || line.contains("TEMP B-TREE")
    }
  }
}
