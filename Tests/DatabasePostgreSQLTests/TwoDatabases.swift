import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

/// Runs a test with two pools for the same database.
func withTwoPostgreSQL(
  _ body: (PostgreSQLDatabase, PostgreSQLDatabase) async throws -> Void
) async throws {
  try await withPostgreSQL(readers: 1, writers: 1) { one in
    let name = try await one.read { connection in
      try connection.first("SELECT current_database()") { try $0.next() as String }
    }
    let server = try await PostgreSQLServer.shared.value
    let other = try await PostgreSQLDatabase(
      server.address(of: try #require(name)), readers: 1, writers: 1)
    do {
      try await body(one, other)
      await other.close()
    } catch {
      await other.close()
      throw error
    }
  }
}
