import Database
import DatabasePostgreSQL
import DatabaseSQLite
import TestDatabases
import Testing

/// What copying all tables of a database relies on, whatever the database is.
@Suite(.timeLimit(.minutes(2)))
struct CatalogTests {
  struct Refusal: Error {}

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `the writes of a transaction are stored together or not at all`() async throws {
    try await withPostgreSQL { database in
      await #expect(throws: Refusal.self) {
        try await database.transaction { transaction in
          try await transaction.write { try $0.run("INSERT INTO person (name) VALUES ('Ada')") }
          throw Refusal()
        }
      }
      let failure = try await code {
        try await database.transaction { transaction in
          try await transaction.write { connection in
            try connection.runLater("INSERT INTO person (name) VALUES ('Ada')")
            try connection.runLater("INSERT INTO person (name) VALUES ('Ada')")
          }
        }
      }
      #expect(failure == .uniqueViolation("person.name"))
      #expect(try await database.count() == 0)
      let count = try await database.transaction { transaction in
        try await transaction.write { try $0.run("INSERT INTO person (name) VALUES ('Ada')") }
        #expect(try await database.count() == 0)
        return try await transaction.write { connection in
          try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
        }
      }
      #expect(count == 1)
      #expect(try await database.names() == ["Ada"])
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `several nodes share a database, and a move has it alone`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let address = try server.address(of: await server.createDatabase())
    let move = try await open(address, sharesUse: false)
    #expect(try await acquires(move))
    // The transaction with the lock ends a moment later.
    while try await code({ try await open(address).close() }) == .busy {}
    let (one, other) = (try await open(address), try await open(address))
    #expect(try await acquires(move) == false)
    await one.close()
    #expect(try await acquires(move) == false)
    await other.close()
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if try await acquires(move) { break }
    }
    try await move.snapshot {
      let isAlone = try await acquires(move)
      #expect(isAlone)
      let refusal = try await code { try await open(address) }
      #expect(refusal == .busy)
    }
    await move.close()
    // The server ends the move's transaction after its connection.
    let limit = ContinuousClock.now + .seconds(10)
    var failure: DatabaseError.Code?
    repeat {
      failure = try await code { try await open(address).close() }
    } while failure == .busy && ContinuousClock.now < limit
    #expect(failure == nil)
  }

  private func open(
    _ address: PostgreSQLAddress, sharesUse: Bool = true
  ) async throws -> PostgreSQLDatabase {
    try await PostgreSQLDatabase(address, readers: 1, writers: 1, sharesUse: sharesUse)
  }

  private func acquires(_ database: PostgreSQLDatabase) async throws -> Bool {
    try await database.read { try $0.catalog.acquire($0) }
  }
}
