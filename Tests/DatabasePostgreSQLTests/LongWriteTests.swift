import Database
import DatabasePostgreSQL
import Dispatch
import Synchronization
import TestDatabases
import Testing

/// While a write is open in any of its databases, a server remembers only some later ones.
@Suite(.enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(10)))
struct LongWriteTests {
  private let writes = 500

  @Test func `writes that a server forgot wait for the end of a long one in another database`()
    async throws
  {
    let server = try await PostgreSQLServer(settings: "max_connections = 20")
    let end = DispatchSemaphore(value: 0)
    let runs = Mutex(0)
    let mostRuns = Mutex(0)
    let long = try await open(server)
    let short = try await open(server) { text in
      guard text == "SELECT n FROM counter" else { return }
      let number = runs.withLock { runs in
        runs += 1
        return runs
      }
      mostRuns.withLock { $0 = max($0, number) }
      if number == 45 { end.signal() }
    }
    let begun = Event()
    async let longWrite: Void = long.write { connection in
      try connection.run("UPDATE counter SET n = 1")
      begun.happen()
      end.wait()
    }
    await begun.wait()
    do {
      defer { end.signal() }
      for _ in 0..<writes {
        runs.withLock { $0 = 0 }
        try await count(short)
      }
    }
    try await longWrite
    #expect(mostRuns.withLock { $0 } >= 45, "the server has forgotten none")
    let total = try await short.read { connection in
      try connection.first("SELECT n FROM counter") { try $0.next() as Int }
    }
    #expect(total == writes)
    await long.close()
    await short.close()
  }

  private func open(
    _ server: PostgreSQLServer, trace: (@Sendable (String) -> Void)? = nil
  ) async throws -> PostgreSQLDatabase {
    let database = try await PostgreSQLDatabase(
      try server.address(of: try await server.createDatabase()), readers: 1, writers: 1,
      writeIdleTimeout: .seconds(600), trace: trace)
    try await database.write { connection in
      try connection.runScript(
        """
        CREATE TABLE counter (n BIGINT NOT NULL);
        INSERT INTO counter VALUES (0);
        """)
    }
    return database
  }

  private func count(_ database: PostgreSQLDatabase) async throws {
    try await database.write { connection in
      let number = try connection.first("SELECT n FROM counter") { try $0.next() as Int }
      try connection.run("UPDATE counter SET n = \((number ?? 0) + 1)")
    }
  }
}
