import Database
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// PostgreSQL's index for searches; SQLite's is a table, with which each search of a test works or
/// fails.
@Suite(.enabled(if: !TestDatabase.isSQLite)) struct SearchIndexTests {
  /// Runs a test with a database that has the schema and nothing else.
  private func withSchema(
    trace: (@Sendable (String) -> Void)? = nil, _ body: (TestDatabase) async throws -> Void
  ) async throws {
    try await TestDatabase.with(nil, TestDatabase.Options(trace: trace)) { test in
      try await test.database.migrate(Identity.migrations(for: .postgreSQL), at: 0)
      try await body(test)
    }
  }

  @Test func `the schema has an index of the parts of texts, whose absence is found`() async throws
  {
    try await withSchema { test in
      let found = try await test.query(
        "SELECT indexdef FROM pg_indexes WHERE indexname = 'account_text_by_part'")
      #expect(found.count == 1)
      #expect(found.first?.contains("account_text USING gin (folded gin_trgm_ops)") == true)
      #expect(try await Identity.searchIndexFaults(of: test.database) == [])
      _ = try await test.query("DROP INDEX account_text_by_part")
      #expect(try await Identity.searchIndexFaults(of: test.database) == [.missing])
    }
  }

  @Test func `the statement of a search can use the index for its texts`() async throws {
    let statements = Statements()
    try await withSchema(trace: statements.record) { test in
      for parts in [[["abc"]], [["abc", "def"], ["ghi"]]] {
        _ = try await test.database.read { connection in
          try connection.all(
            SearchIndex.parts.query(
              containing: parts, in: 0...9, limit: 9, connection.dialect)
          ) { try $0.next() as Int64 }
        }
      }
      let searches = statements.all.filter { $0.contains("FROM account_text") }
      #expect(searches.count == 2)
      // With few rows, the index of the keys is as good, so the planner only gets this one.
      _ = try await test.query("ALTER TABLE account_text DROP CONSTRAINT account_text_pkey")
      for search in searches {
        let count = search.matches(of: /\$\d+/).count
        let values = Array(repeating: "NULL", count: count).joined(separator: ", ")
        let plan = try await test.query(
          """
          SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
          PREPARE search AS \(search); EXPLAIN (COSTS OFF) EXECUTE search(\(values))
          """)
        #expect(plan.contains { $0.contains("Bitmap Index Scan on account_text_by_part") })
        #expect(!plan.contains { $0.contains("Seq Scan") })
        #expect(plan.contains { $0.contains("Index Cond: (folded ~~ ") })
      }
    }
  }

  @Test func `the index has letters of all scripts`() async throws {
    try await withSchema { test in
      for name in ["王小明", "فريد رضايي", "김민준"] {
        let parts = try await test.query("SELECT unnest(show_trgm('\(name)'))")
        #expect(!parts.isEmpty, "\(name)")
      }
    }
  }
}
