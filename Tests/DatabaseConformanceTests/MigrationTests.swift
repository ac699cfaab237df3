import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

@Suite(.timeLimit(.minutes(2)))
struct MigrationTests {
  private static let first = Migration(
    name: "m0001_first", text: "CREATE TABLE a (x BIGINT); CREATE TABLE b (x BIGINT); -- end\n",
    digest: "d1")
  private static let second = Migration(
    name: "m0002_second", text: "INSERT INTO a VALUES (1)", digest: "d2")
  private static let failing = Migration(
    name: "m0003_failing", text: "INSERT INTO a VALUES (2); INSERT INTO missing VALUES (1)",
    digest: "d3")

  /// Returns migrations that begin with the first one.
  private static func list(_ later: Migration...) -> Migrations {
    Migrations(baseline: first, upgrade: failing, from: "m0000_last", later: later)
  }

  @Test(arguments: Engine.available)
  func `each migration is applied once`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let before = try await database.pending(Self.list())
      #expect(before == [Self.first])
      #expect(try await database.migrate(Self.list(), at: 1000) == ["m0001_first"])
      #expect(try await database.pending(Self.list(Self.second)) == [Self.second])
      #expect(
        try await database.migrate(Self.list(Self.second), at: 2000) == ["m0002_second"])
      #expect(try await database.migrate(Self.list(Self.second), at: 3000) == [])
      let applied = try await database.read { connection in
        try connection.all("SELECT name, digest, applied_at FROM schema_migration") { row in
          try "\(row.next() as String) \(row.next() as String) \(row.next() as Int)"
        }
      }
      #expect(applied == ["m0001_first d1 1000", "m0002_second d2 2000"])
    }
  }

  @Test(arguments: Engine.available)
  func `a failed migration has no effect`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let error = await #expect(throws: MigrationError.self) {
        try await database.migrate(Self.list(Self.second, Self.failing), at: 0)
      }
      guard case .failed("m0003_failing", let cause)? = error else {
        Issue.record("unexpected \(String(describing: error))")
        return
      }
      #expect(cause.message.contains("missing"))
      let values = try await database.read {
        try $0.all("SELECT x FROM a") { try $0.next() as Int }
      }
      #expect(values == [1])
      #expect(try await database.migrate(Self.list(Self.second), at: 0) == [])
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `servers that start together apply each migration once`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let address = try server.address(of: await server.createDatabase())
    let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
      for _ in 0..<4 {
        group.addTask {
          let database = try await PostgreSQLDatabase(address, readers: 1, writers: 1)
          do {
            _ = try await database.migrate(Self.list(Self.second), at: 0)
            let pending = try await database.pending(Self.list(Self.second))
            await database.close()
            return pending
          } catch {
            await database.close()
            throw error
          }
        }
      }
      return try await group.reduce([], +)
    }
    #expect(applied == [])
  }
}
