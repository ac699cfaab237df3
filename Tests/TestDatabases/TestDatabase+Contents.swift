public import Database

extension TestDatabase {
  /// Returns every row of an instance's tables, except for the tables of failed attempts, which are
  /// counted before an attempt is checked.
  ///
  /// - Parameter database: The database of the instance.
  /// - Returns: The rows of each table.
  /// - Throws: Errors of the database.
  public static func contents(
    of database: any Database
  ) async throws -> [String: [[SQLValue]]] {
    try await database.read { try contents($0) }
  }

  /// Returns the rows as a transaction sees them.
  ///
  /// - Parameter connection: The transaction.
  /// - Returns: The rows of each table.
  /// - Throws: Errors of the database.
  public static func contents(
    _ connection: borrowing Connection
  ) throws -> [String: [[SQLValue]]] {
    // Servers that share a database take blocks of account numbers, used or not.
    let scopes: SQL =
      connection.dialect.sharesDatabase
      ? "SELECT /* test */ CAST(to_jsonb(s) - 'next_account' AS TEXT) FROM scope s ORDER BY 1"
      : "SELECT /* test */ * FROM scope ORDER BY 1"
    let tables: [(String, SQL)] = [
      ("instance", "SELECT /* test */ * FROM instance ORDER BY 1"),
      ("project", "SELECT /* test */ * FROM project ORDER BY 1"),
      ("scope", scopes),
      ("account", "SELECT /* test */ * FROM account ORDER BY 1"),
      ("text", "SELECT /* test */ * FROM account_text ORDER BY 1"),
      ("beginning", "SELECT /* test */ * FROM account_beginning ORDER BY 1, 2"),
      ("factor", "SELECT /* test */ * FROM factor ORDER BY 1, 2"),
      ("session", "SELECT /* test */ * FROM session ORDER BY 1"),
      ("ticket", "SELECT /* test */ * FROM ticket ORDER BY 1"),
      ("api_key", "SELECT /* test */ * FROM api_key ORDER BY 1"),
      ("service_token", "SELECT /* test */ * FROM service_token ORDER BY 1"),
      ("signer", "SELECT /* test */ * FROM trusted_token_key ORDER BY 1"),
      ("provider", "SELECT /* test */ * FROM identity_provider ORDER BY 1, 2"),
      ("account_provider", "SELECT /* test */ * FROM account_provider ORDER BY 1, 2"),
      ("signing_key", "SELECT /* test */ * FROM signing_key ORDER BY 1"),
      ("administrator", "SELECT /* test */ * FROM administrator ORDER BY 1"),
      ("grants", "SELECT /* test */ * FROM administrator_grant ORDER BY 1, 2, 3, 4"),
      ("invitation", "SELECT /* test */ * FROM invitation ORDER BY 1"),
      ("recovery_code", "SELECT /* test */ * FROM recovery_code ORDER BY 1, 2"),
      ("console_session", "SELECT /* test */ * FROM console_session ORDER BY 1"),
      ("audit", "SELECT /* test */ * FROM audit ORDER BY 1"),
      ("audit_change", "SELECT /* test */ * FROM audit_change ORDER BY 1, 2"),
      ("oob_code", "SELECT /* test */ * FROM oob_code ORDER BY 1"),
      ("outbox", "SELECT /* test */ * FROM outbox ORDER BY 1"),
      ("user_link", "SELECT /* test */ * FROM user_link ORDER BY 1"),
      ("backup_code_set", "SELECT /* test */ * FROM backup_code_set ORDER BY 1, 2"),
      ("backup_code", "SELECT /* test */ * FROM backup_code ORDER BY 1, 2, 3"),
      ("guidance", "SELECT /* test */ * FROM guidance ORDER BY 1, 2"),
      ("support_rules", "SELECT /* test */ * FROM support_rules ORDER BY 1"),
      ("support_action", "SELECT /* test */ * FROM support_action ORDER BY 1"),
      ("support_hold", "SELECT /* test */ * FROM support_hold ORDER BY 1, 2"),
      ("removed_factor", "SELECT /* test */ * FROM removed_factor ORDER BY 1, 2"),
      ("bulk_job", "SELECT /* test */ * FROM bulk_job ORDER BY 1"),
      ("bulk_item", "SELECT /* test */ * FROM bulk_item ORDER BY 1, 2"),
      ("sign_off", "SELECT /* test */ * FROM sign_off ORDER BY 1"),
      ("caller_code", "SELECT /* test */ * FROM caller_code ORDER BY 1, 2"),
      ("exemption", "SELECT /* test */ * FROM exemption ORDER BY 1"),
      ("evidence_key", "SELECT /* test */ * FROM evidence_key ORDER BY 1"),
      ("approval", "SELECT /* test */ * FROM approval ORDER BY 1"),
      ("connection", "SELECT /* test */ * FROM connection ORDER BY 1"),
      ("mirror", "SELECT /* test */ * FROM mirror ORDER BY 1"),
      ("intent", "SELECT /* test */ * FROM intent ORDER BY 1"),
      ("mirror_fault", "SELECT /* test */ * FROM mirror_fault ORDER BY 1, 2"),
    ]
    var contents: [String: [[SQLValue]]] = [:]
    for (name, query) in tables {
      contents[name] = try connection.all(query) { row in
        try (0..<row.columnCount).map { _ in try row.next() as SQLValue }
      }
    }
    return contents
  }
}
