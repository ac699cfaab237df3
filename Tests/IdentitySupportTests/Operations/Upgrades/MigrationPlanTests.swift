import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct MigrationPlanTests {
  @Test func `tables that a migration reads or rewrites are found`() {
    let text = """
      -- UPDATE nothing
      ALTER TABLE project ADD COLUMN a INTEGER;
      ALTER TABLE scope RENAME COLUMN a TO b;
      CREATE TABLE fresh (a INTEGER REFERENCES account (account_key) ON DELETE CASCADE) STRICT;
      INSERT INTO fresh SELECT account_key FROM account JOIN factor USING (account_key);
      CREATE INDEX audit_by_a ON audit (a);
      update session SET a = -1 -- FROM nowhere
      ;
      DROP TABLE ticket;
      """
    let tables = MigrationPlan.tables(in: text)
    #expect(
      tables.isSuperset(of: ["scope", "fresh", "account", "factor", "audit", "session", "ticket"]))
    #expect(tables.isDisjoint(with: ["project", "nothing", "nowhere"]))
  }

  @Test func `a current database has no steps`() async throws {
    try await withEmptyDatabase { database in
      try await database.migrate(Identity.migrations(for: database.dialect), at: 0)
      let plan = try await MigrationPlan.estimate(database)
      #expect(plan.steps == [])
      #expect(plan.extraBytes == 0)
      #expect(plan.databaseBytes > 0)
    }
  }

  @Test func `the estimate grows with the tables that a migration rewrites`() async throws {
    try await ReleasedDatabase.with { released in
      let plan = try await MigrationPlan.estimate(released.database)
      let later = Identity.migrations(for: released.database.dialect).later.map(\.name)
      #expect(plan.steps.map(\.name) == ["m0069_upgrade_of_0_2_0"] + later)
      #expect(plan.steps.contains { $0.tables.contains("factor") && $0.bytes > 0 })
      #expect(plan.extraBytes >= plan.steps.reduce(0) { $0 + 2 * $1.bytes })
      #expect(plan.seconds > 0)
    }
  }
}
