import Crypto
import Database
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// What could hide data or change it on its own is refused before it's used.
struct SchemaObjectsTests {
  /// What is done to a schema, and how an error names it.
  private static let changes: [(sqlite: String, postgreSQL: String, fault: String)] = [
    (
      """
      CREATE TRIGGER elevate AFTER INSERT ON session BEGIN
        UPDATE administrator SET email = 'x'; END
      """,
      """
      CREATE TRIGGER elevate AFTER INSERT ON session
        FOR EACH ROW EXECUTE FUNCTION project_counts_users()
      """, "trigger elevate on session"
    ),
    (
      "CREATE VIEW elevated AS SELECT 1 AS x", "CREATE VIEW elevated AS SELECT 1 AS x",
      "view elevated"
    ),
    ("CREATE TABLE elevated (x)", "CREATE TABLE elevated (x BIGINT)", "table elevated"),
    (
      """
      DROP TRIGGER scope_stamps_new; CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope BEGIN
        UPDATE administrator SET email = 'x'; END
      """,
      """
      CREATE OR REPLACE FUNCTION scope_stamps_new() RETURNS TRIGGER LANGUAGE plpgsql AS
        'BEGIN UPDATE administrator SET email = ''x''; RETURN NULL; END'
      """, "trigger scope_stamps_new on scope"
    ),
    (
      "ALTER TABLE alert RENAME TO former; CREATE VIEW alert AS SELECT * FROM former",
      "ALTER TABLE alert RENAME TO former; CREATE VIEW alert AS SELECT * FROM former", "view alert"
    ),
    (
      "DROP TRIGGER scope_stamps_new", "DROP TRIGGER scope_stamps_new ON scope",
      "no trigger scope_stamps_new on scope"
    ),
    ("DROP INDEX factor_by_id", "DROP INDEX factor_by_id", "no index factor_by_id on factor"),
    (
      "DROP INDEX factor_by_id; CREATE INDEX factor_by_id ON factor (account_key, enrollment_id)",
      "DROP INDEX factor_by_id; CREATE INDEX factor_by_id ON factor (account_key, enrollment_id)",
      "index factor_by_id on factor"
    ),
    (
      "ALTER TABLE session ADD COLUMN elevated INTEGER",
      "ALTER TABLE session ADD COLUMN elevated BIGINT", "column elevated on session"
    ),
    (
      "ALTER TABLE session DROP COLUMN claims", "ALTER TABLE session DROP COLUMN claims",
      "no column claims on session"
    ),
    (
      """
      DROP TABLE sms_count; CREATE TABLE sms_count (scope_key INTEGER NOT NULL,
        day INTEGER NOT NULL, region TEXT NOT NULL, sent INTEGER NOT NULL) STRICT
      """,
      "ALTER TABLE sms_count DROP CONSTRAINT sms_count_pkey", "on sms_count"
    ),
    (
      """
      DROP TRIGGER scope_stamps_new; CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope
        WHEN FALSE BEGIN SELECT 1; END
      """,
      "ALTER TABLE scope DISABLE TRIGGER scope_stamps_new", "trigger scope_stamps_new on scope"
    ),
  ]

  /// Everything that reads a database before it's restored, migrated, or moved, and the doctor.
  private static let uses:
    [(name: String, run: @Sendable (any Database, KeyRing) async throws -> Void)] = [
      ("restore", { _ = try await Identity.inspect($0, keys: $1) }),
      ("migrate", { database, _ in _ = try await MigrationPlan.estimate(database) }),
      ("move", { _ = try await InstanceMove.inspect($0, keys: $1) { _, _ in } }),
      ("doctor", { database, _ in try await Identity.checkSchema(of: database) }),
    ]

  private func identity(_ database: any Database, _ keys: KeyRing) throws -> Identity {
    try Identity(
      database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
      clock: FixedClock().wall)
  }

  @Test(arguments: changes.indices)
  func `a schema with anything that is defined otherwise is refused`(change: Int) async throws {
    let change = Self.changes[change]
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      for use in Self.uses { try await use.run(database, keys) }
      try await database.write { connection in
        try connection.runScript(
          connection.dialect == .sqlite ? change.sqlite : change.postgreSQL)
      }
      for use in Self.uses {
        let error = await #expect(throws: (any Error).self, "\(use.name)") {
          try await use.run(database, keys)
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains(change.fault), "\(use.name)")
      }
    }
  }

  @Test func `a database of 0.2.0 is checked before it's migrated`() async throws {
    try await ReleasedDatabase.with { released in
      try await Identity.checkSchema(of: released.database)
      try await released.database.write { connection in
        try connection.runScript(
          connection.dialect == .sqlite ? Self.changes[0].sqlite : Self.changes[0].postgreSQL)
      }
      let error = try await thrown(StartError.self) { try await released.identity().prepare() }
      guard case .migration(.foreign(["trigger elevate on session"])) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      try await released.database.write { connection in
        try connection.runScript(
          connection.dialect == .sqlite ? "DROP TRIGGER elevate" : "DROP TRIGGER elevate ON session"
        )
      }
      try await released.identity().prepare()
      try await Identity.checkSchema(of: released.database)
    }
  }

  @Test func `a server that has nothing to migrate starts`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      try await database.write { try $0.runScript("CREATE VIEW report AS SELECT 1 AS x") }
      try await identity(database, keys).prepare(creates: false)
    }
  }
}
