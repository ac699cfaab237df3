import Database
import DatabaseSQLite
import Identity

extension [AuditRow] {
  func tally(of action: AuditAction) -> Int { count { $0.action == action } }
}

extension Instance {
  /// Adds another app to an imported user, as if enrolled now.
  func addFactor(to uid: String) async throws {
    let now = now
    try await database.write { connection in
      try connection.run(
        """
        INSERT INTO factor (account_key, position, enrollment_id, kind, display_name, enrolled_at)
        SELECT /* test */ account_key, 9, 'new of ' || uid, 'totp', NULL, \(now.microseconds)
        FROM account WHERE uid = \(uid)
        """)
    }
  }

  func count(_ table: String) async throws -> Int {
    try await database.read { connection in
      let counts = try connection.all(
        """
        SELECT /* test */ 'bulk_item', count(*) FROM bulk_item
        UNION ALL SELECT 'approval', count(*) FROM approval
        """
      ) { row in (try row.value(0) as String, try row.value(1) as Int) }
      return Dictionary(uniqueKeysWithValues: counts)[table] ?? 0
    }
  }
}
