import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

/// Transactions of reads, which end along with the next one or a moment later.
@Suite(
  .enabled(if: PostgreSQLServer.isInstalled, "Debian's package postgresql isn't installed"),
  .timeLimit(.minutes(2)))
struct EndOfReadsTests {
  /// Returns how many other connections have a snapshot or a transaction.
  private static func otherTransactions(_ database: PostgreSQLDatabase) async throws -> Int {
    try await database.read { connection in
      try connection.first(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR state LIKE 'idle in %')
        """
      ) { try $0.next() as Int } ?? 0
    }
  }

  @Test func `the last transaction ends in a moment if no other follows`() async throws {
    try await withTwoPostgreSQL { one, other in
      for _ in 0..<3 {
        _ = try await one.count()
        while try await Self.otherTransactions(other) > 0 {}
        _ = await one.snapshot { try? await one.count() }
        while try await Self.otherTransactions(other) > 0 {}
      }
    }
  }

  @Test func `a read sees what was written since the one before it on its connection`() async throws
  {
    try await withTwoPostgreSQL { one, other in
      for count in 1...40 {
        try await other.insert("\(count)")
        #expect(try await one.count() == count)
        let again = try await one.snapshot { try await one.count() }
        #expect(again == count)
      }
    }
  }

  @Test func `a connection that is lost before its last transaction ended is replaced`()
    async throws
  {
    try await withTwoPostgreSQL { one, other in
      for _ in 0..<10 {
        _ = try await one.count()
        _ = try await other.read { connection in
          try connection.first(
            """
            SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
              AND backend_type = 'client backend'
            """
          ) { try $0.next() as Int }
        }
        #expect(try await one.count() == 0)
      }
    }
  }

  @Test func `an error in the next transaction is that of its statement`() async throws {
    try await withTwoPostgreSQL { one, _ in
      for _ in 0..<3 {
        _ = try await one.count()
        await #expect(throws: DatabaseError.self) {
          try await one.read { connection in
            try connection.first("SELECT 1 / count(*) FROM person") { try $0.next() as Int }
          }
        }
        #expect(try await one.count() == 0)
      }
    }
  }
}
