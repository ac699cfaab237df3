import Database
import TestDatabases
import Testing

@testable import DatabasePostgreSQL

private let needsServer: Comment = "Debian's package postgresql isn't installed"

/// What a dated snapshot requires of its connection, with a real server that isn't a replica.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, needsServer), .timeLimit(.minutes(2)))
struct ReplicaTests {
  private static let pid: SQL = "SELECT pg_backend_pid()"

  /// Runs a test with a database and other connections to it.
  private func withPool(
    of size: Int, _ body: (PostgreSQLDatabase, ConnectionPool) async throws -> Void
  ) async throws {
    try await withPostgreSQL(readers: 1, writers: 1) { database in
      let name = try await database.read { connection in
        try connection.first("SELECT current_database()") { try $0.value(0) as String }
      }
      let address = try await PostgreSQLServer.shared.value.address(of: try #require(name))
      let connector = Connector(
        address: address, passwordFile: nil,
        limits: Connector.Limits(statementTimeout: .seconds(30), idleTimeout: .seconds(60)),
        writes: false, sharesUse: true, outage: Outage())
      let pool = ConnectionPool(
        (0..<size).map { _ in PostgreSQLSession(connector, trace: nil) }, waiting: 10)
      let result: Result<Void, any Error>
      do { result = .success(try await body(database, pool)) } catch { result = .failure(error) }
      // Waits for connections that weren't given back.
      await pool.close(completingWaiting: false)
      try result.get()
    }
  }

  private static func backend(_ session: PostgreSQLSession) throws -> Int64? {
    try session.read { try $0.first(pid) { try $0.value(0) } }
  }

  @Test func `a snapshot is read on the connection that was borrowed and measured`() async throws {
    try await withPool(of: 3) { _, pool in
      let own = ConnectionPool([], waiting: 0)
      let slots = [try await pool.borrow(), try await pool.borrow()]
      for slot in slots {
        let measured = try await slot.run { try Self.backend($0) }
        let read = try await PostgreSQLSnapshot.run(of: own, on: (slot, pool)) {
          let snapshot = try #require(PostgreSQLSnapshot.current(of: own))
          return try await snapshot.read { try $0.first(Self.pid) { try $0.value(0) as Int64 } }?
            .get()
        }
        #expect(measured != nil && read == measured)
      }
    }
  }

  @Test func `a lost connection isn't opened again until it's given back`() async throws {
    try await withPool(of: 1) { database, pool in
      let slot = try await pool.borrow()
      let first = try await slot.run { session in
        session.keepsLink = true
        return try Self.backend(session)
      }
      let pid = try #require(first)
      _ = try await database.read { connection in
        try connection.first("SELECT pg_terminate_backend(\(pid)::int, 10000)") { _ in }
      }
      for _ in 0..<2 {
        let failure = try await code { try await slot.run { try Self.backend($0) } }
        #expect(failure == DatabaseError.connection("").code)
      }
      pool.giveBack(slot)
      let second = try await pool.use { try Self.backend($0) }
      #expect(second != nil && second != pid)
    }
  }

  @Test func `the connection to a server that isn't a replica is given back`() async throws {
    try await withPool(of: 1) { _, pool in
      let replica = Replica(pool, mostSecondsBehind: 60) { _ in }
      let isBorrowed = await replica.borrow(of: pool) != nil
      #expect(!isBorrowed)
      #expect(await replica.newState(of: pool, within: .seconds(60)).status == .notReplica)
    }
  }
}
