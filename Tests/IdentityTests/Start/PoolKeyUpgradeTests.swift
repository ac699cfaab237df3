import Database
import TestDatabases
import Testing

@testable import Identity

/// Tests the migration that makes the pool part of all keys.
struct PoolKeyUpgradeTests {
  @Test func `rows keep their numbers, and lines and requests get the pool of their job`()
    async throws
  {
    try await withEarlierDatabase { database in
      let rows = try await database.read { connection in
        try connection.all(
          """
          SELECT /* test */ 'bulk_job', scope_key, job_id FROM bulk_job
          UNION ALL SELECT 'bulk_item', scope_key, line FROM bulk_item
          UNION ALL SELECT 'bulk_undo', scope_key, job_id FROM bulk_undo
          UNION ALL SELECT 'approval', scope_key, approval_id FROM approval
          UNION ALL SELECT 'approval_policy', scope_key, policy_version FROM approval_policy
          UNION ALL SELECT 'outbox', scope_key, message_id FROM outbox
          UNION ALL SELECT 'ticket', scope_key, uses FROM ticket
          """
        ) { row in
          "\(try row.value(0) as String) \(try row.value(1) as Int) \(try row.value(2) as Int)"
        }
      }
      #expect(
        rows.sorted() == [
          "approval 3 5", "approval_policy 3 2", "bulk_item 3 1", "bulk_job 3 7", "bulk_undo 3 7",
          "outbox 3 4", "ticket 0 1",
        ])
    }
  }

  @Test func `a number that a deleted row had isn't used again`() async throws {
    try await withEarlierDatabase { database in
      let numbers = try await database.write { connection in
        try connection.run("DELETE /* test */ FROM outbox")
        return try (0..<2).map { _ in
          try connection.first(
            """
            INSERT /* test */ INTO outbox (message_id, scope_key, channel, purpose, recipient,
              language, created_at, expires_at)
            VALUES (\(SQL.nextNumber("message_id", of: "outbox")), 3, 'mail', 'test', 'a@b', 'en',
              0, 0)
            RETURNING message_id
            """
          ) { try $0.value(0) as Int }
        }
      }
      #expect(numbers == [10, 11])
    }
  }

  @Test func `a ticket that was used before the upgrade can't be used again`() async throws {
    try await withEarlierDatabase { database in
      let uses = try await database.write { connection in
        try connection.first(
          """
          INSERT /* test */ INTO ticket (scope_key, ticket_id, uses, failures)
          VALUES (3, \([1] as [UInt8]), 0, 0)
          ON CONFLICT (ticket_id) DO UPDATE SET uses = ticket.uses
          RETURNING uses
          """
        ) { try $0.value(0) as Int }
      }
      #expect(uses == 1)
    }
  }

  @Test func `a deleted job takes its lines, its undo, and its requests with it`() async throws {
    try await withEarlierDatabase { database in
      let left = try await database.write { connection in
        try connection.run("DELETE /* test */ FROM bulk_job WHERE scope_key = 3 AND job_id = 7")
        return try connection.first(
          """
          SELECT /* test */ (SELECT count(*) FROM bulk_item) + (SELECT count(*) FROM bulk_undo)
            + (SELECT count(*) FROM approval) + (SELECT count(*) FROM approval_policy)
          """
        ) { try $0.value(0) as Int }
      }
      #expect(left == 0)
    }
  }

  /// Runs a test with a migrated database that had rows before the migration.
  private func withEarlierDatabase(
    _ body: (any Database) async throws -> Void
  ) async throws {
    try await withEmptyDatabase { database in
      let migrations = Identity.migrations(for: database.dialect)
      try await database.migrate(
        Array(migrations.prefix { $0.name != "m0063_pool_keys" }), at: 0)
      try await database.write { connection in
        for text in Self.rows { try connection.run(text) }
        // SQLite remembers the number of the deleted row; a sequence has to be told.
        try connection.catalog.setLastKey(of: try SQLName.named("outbox"), to: 9, connection)
      }
      try await database.migrate(migrations, at: 0)
      try await body(database)
    }
  }

  private static let rows: [SQL] = [
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
    INSERT INTO bulk_job (job_id, scope_key, state, administrator_id, administrator_name, address,
      request_id, created_at)
    VALUES (7, 3, 'waiting', 'iris', 'Iris', '', '', 0)
    """,
    "INSERT INTO bulk_item (job_id, line, given, factors) VALUES (7, 1, 'a@b', '')",
    """
    INSERT INTO bulk_undo (job_id, administrator_id, administrator_name, address, request_id, note,
      ticket, proof, started_at)
    VALUES (7, 'iris', 'Iris', '', '', '', '', '', 0)
    """,
    """
    INSERT INTO approval (approval_id, scope_key, kind, uid, user_name, factors, factor_names,
      all_factors, job_id, users, cause, requester_id, requester_name, address, request_id, reason,
      note, ticket, proof, requested_at, expires_at, state)
    VALUES (5, 3, 'job', '', '', '', '', '', 7, 1, 'many', 'iris', 'Iris', '', '', '', '', '', '',
      0, 0, 'waiting')
    """,
    "INSERT INTO approval_policy (approval_id, policy_version, sms) VALUES (5, 2, 0)",
    """
    INSERT INTO outbox (message_id, scope_key, channel, purpose, recipient, language, created_at,
      expires_at)
    VALUES (4, 3, 'mail', 'test', 'a@b', 'en', 0, 0), (9, 3, 'mail', 'test', 'a@b', 'en', 0, 0)
    """,
    "DELETE FROM outbox WHERE message_id = 9",
    "INSERT INTO ticket (ticket_id, uses, failures) VALUES (\([1] as [UInt8]), 1, 0)",
  ]
}
