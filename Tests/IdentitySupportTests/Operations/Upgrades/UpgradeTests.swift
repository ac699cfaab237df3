import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// A database of 0.2.0 is upgraded at startup.
struct UpgradeTests {
  /// The tables of features that are gone.
  private static let droppedTables: Set<String> = [
    "bounced_address",
    "bulk_group",
    "bulk_group_line",
    "dead_letter",
    "event_stream",
    "policy_template",
    "policy_template_use",
    "report_subscription",
    "scheduled_change",
    "user_note",
  ]
  /// The columns of features that are gone, in tables that stay.
  private static let droppedColumns: [String: Set<String>] = [
    "administrator_provider_link": ["created_at", "last_sign_in_at"],
    "approval_policy": ["apply_at", "template"],
    "bulk_job": ["group_id"],
    "console_session": ["provider_session"],
    "outbox": ["sealed_html"],
    "sign_in_provider": ["changed_at", "created_at"],
  ]
  /// The new columns of tables that stay.
  private static let newColumns: [String: Set<String>] = [
    "account": [
      "asked_at", "clock_off", "gone_at", "hosted", "initial_email_verified", "mirror_digest",
      "missing_in", "reported_mailbox", "sign_in_lock",
    ],
    "account_provider": ["email_verified", "hosted"],
    "approval": ["change", "intent_id"],
    "bulk_job": ["kind", "link_seconds", "next_at", "reminds", "sentence"],
    "factor": ["clock_offset", "clock_trend", "secret_digest"],
    "project": ["kind"],
    "removed_factor": ["clock_offset"],
    "scope": ["outside_users", "password_common_refused"],
    "support_rules": ["resynchronization"],
    "user_link": ["address", "job_id"],
  ]
  /// What nothing has filled yet.
  private static let newTables: Set = [
    "campaign_user", "connection", "deleted_attempts", "dismissed_attention", "intent",
    "mirror", "mirror_fault", "node", "noticed_address",
  ]
  /// The tables of the audit log, which stay as they are.
  private static let auditLog = [
    "audit", "audit_change", "audit_check", "audit_erasure", "audit_head", "audit_link",
    "audit_tombstone", "evidence_key",
  ]

  @Test func `the upgrade drops the data of features that are gone, and nothing else`() async throws
  {
    try await ReleasedDatabase.with { released in
      let before = try await released.contents()
      try await released.database.migrate(
        Identity.migrations(for: released.database.dialect), at: 0)
      let after = try await released.contents()
      #expect(Set(before.keys).subtracting(after.keys) == Self.droppedTables)
      for table in Self.droppedTables { #expect(before[table]?.isEmpty == false, "\(table)") }
      // The state of the schema itself.
      let own: Set = ["schema_migration", "instance", "key_sequence"]
      for (table, rows) in after where !own.contains(table) {
        let dropped = Self.droppedColumns[table] ?? []
        guard !Self.newTables.contains(table) else {
          #expect(rows.isEmpty, "\(table)")
          continue
        }
        let former = try #require(before[table], "\(table)").map { row in
          var row = row.filter { !dropped.contains($0.key) }
          // The setting is for every change of how a user signs in now, and on.
          if table == "scope" { row["withdrawal_needs_factor"] = .integer(1) }
          return row
        }
        let new = Self.newColumns[table] ?? []
        let kept = rows.map { row in row.filter { !new.contains($0.key) } }
        #expect(kept == former, "\(table)")
      }
      for table in Self.auditLog { #expect(after[table] == before[table], "\(table)") }
      #expect(after["audit"]?.count == 39 && after["audit_change"]?.count == 65)
      let instance = try #require(after["instance"]).filter {
        $0["name"] != .text("oldest_program")
      }
      let formerly = try #require(before["instance"]).filter {
        $0["name"] != .text("oldest_program")
      }
      #expect(instance == formerly)
    }
  }

  @Test func `a waiting request for a change at a later time ends, and other requests stay`()
    async throws
  {
    try await ReleasedDatabase.with { released in
      try await released.database.write { connection in
        for (id, state) in [(901, "waiting"), (902, "waiting"), (903, "approved")]
          as [(Int, String)]
        {
          try connection.run(
            """
            INSERT INTO approval (scope_key, approval_id, kind, uid, user_name, factors,
              factor_names, all_factors, users, cause, requester_id, requester_name, address,
              request_id, reason,
              note, ticket, proof, requested_at, expires_at, state)
            SELECT min(scope_key), CAST(\(id) AS BIGINT), 'policy', '', '', '', '', '', 1, 'many',
              'iris', 'Iris', '', '', '', '', '', '', 0, 0, \(state) FROM scope
            """)
          let time = id == 902 ? nil : 1
          try connection.run(
            """
            INSERT INTO approval_policy (scope_key, approval_id, policy_version, sms, apply_at)
            SELECT min(scope_key), CAST(\(id) AS BIGINT), 1, 0, CAST(\(time) AS BIGINT) FROM scope
            """)
        }
      }
      try await released.database.migrate(
        Identity.migrations(for: released.database.dialect), at: 0)
      let left = try await released.database.read { connection in
        try connection.all(
          """
          SELECT a.approval_id FROM approval a JOIN approval_policy w
            ON w.scope_key = a.scope_key AND w.approval_id = a.approval_id
          ORDER BY a.approval_id
          """
        ) { try $0.next() as Int }
      }
      #expect(left == [902, 903])
    }
  }

  @Test func `the audit log verifies before and after, and names what is gone`() async throws {
    try await ReleasedDatabase.with { released in
      let identity = try released.identity()
      let before = try await identity.auditChain.verify()
      try await identity.prepare(creates: false)
      let after = try await identity.auditChain.verify()
      #expect(before.faults.isEmpty && before.entries == 39)
      #expect(after.faults.isEmpty && after.entries >= 39)
      let actions = try await identity.audit.list(limit: 100).items.map(\.actionName)
      #expect(
        Set(actions).isSuperset(of: [
          "account.note", "account.mark-bounces", "event-stream.add", "email-template.test",
          "policy.create-template", "policy.schedule", "policy.sign-off", "instance.move",
          "administrator.provider-sign-out", "instance.upgrade",
        ]))
    }
  }

  @Test func `users of an earlier release are found, and their secrets can be read`() async throws {
    try await ReleasedDatabase.with { released in
      let identity = try released.identity()
      try await identity.prepare(creates: false)
      let pool = try await identity.pools.existing(project: ID("acme-app"))
      #expect(try await identity.accounts.counts(pool).users == 3)
      #expect(try await identity.accounts.search(pool, "alice").hits.count == 1)
      let sample = try await SecretSample.take(released.database, keys: released.keys)
      #expect(sample.readable > 0 && sample.unreadable == 0)
      // A second startup has nothing to do.
      #expect(try await identity.pendingMigrations() == [])
      try await identity.prepare(creates: false)
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
            (SELECT account_key FROM account WHERE uid = \(alice.id)) WHERE name = 'search_3'
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
