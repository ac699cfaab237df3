import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

/// Queries that run along with another one, whatever the database is.
@Suite(.timeLimit(.minutes(2)))
struct PrefetchTests {
  private static func name(_ id: Int) -> SQL { "SELECT name FROM person WHERE id = \(id)" }
  private static func id(_ name: String) -> SQL { "SELECT id FROM person WHERE name = \(name)" }

  private static func text(_ sql: SQL, _ connection: borrowing Connection) throws -> String? {
    try connection.first(sql) { try $0.value(0) }
  }

  private static func number(_ sql: SQL, _ connection: borrowing Connection) throws -> Int? {
    try connection.first(sql) { try $0.value(0) }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a prefetched query runs along with the next one, and once`() async throws {
    let texts = Record<String>()
    try await withPostgreSQL(trace: { texts.append($0) }) { database in
      try await database.insert("first")
      let before = texts.elements.count
      let found = try await database.read { connection in
        connection.prefetch([Self.name(1), Self.name(1)])
        #expect(texts.elements.count == before)
        let id = try Self.number(Self.id("first"), connection)
        #expect(texts.elements.count == before + 2)
        let name = try Self.text(Self.name(1), connection)
        return (id, name)
      }
      #expect(found.0 == 1)
      #expect(found.1 == "first")
      #expect(texts.elements.count == before + 2)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a query prefetched before the snapshot's first read runs along with it`() async throws {
    let texts = Record<String>()
    try await withPostgreSQL(readers: 1, trace: { texts.append($0) }) { database in
      try await database.insert("first")
      // Outside of a snapshot, there's nothing that it could run along with.
      database.prefetch { [Self.name(1)] }
      #expect(try await database.count() == 1)
      let before = texts.elements.count
      let name = try await database.snapshot {
        database.prefetch { [Self.name(1)] }
        #expect(try await database.count() == 1)
        #expect(texts.elements.count == before + 2)
        try await database.write { try $0.run("UPDATE person SET name = 'changed'") }
        return try await database.read { try Self.text(Self.name(1), $0) }
      }
      #expect(name == "first")
      #expect(texts.elements.filter { $0 == Self.name(1).text }.count == 1)
    }
  }

  @Test(arguments: Engine.available)
  func `a query with other values than the prefetched one has its own result`(
    engine: Engine
  ) async throws {
    // These are equal as characters, not as bytes.
    let (one, other) = ("caf\u{e9}", "cafe\u{301}")
    try await withDatabase(engine) { database in
      try await database.insert(one)
      try await database.insert(other)
      try await database.read { connection in
        connection.prefetch([Self.id(one), Self.name(2)])
        let name = try Self.text(Self.name(1), connection)
        let ids = try ["nobody", other, one].map { try Self.number(Self.id($0), connection) }
        #expect(name == one)
        #expect(ids == [nil, 2, 1])
      }
    }
  }

  @Test(arguments: Engine.available)
  func `a write sees its own changes, whatever was prefetched`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.insert("first")
      let name = try await database.write { connection in
        connection.prefetch([Self.name(1)])
        _ = try Self.number(Self.id("first"), connection)
        try connection.run("UPDATE person SET name = 'changed'")
        return try Self.text(Self.name(1), connection)
      }
      #expect(name == "changed")
    }
  }

  @Test(arguments: Engine.available)
  func `a prefetched query that never runs has no effect`(engine: Engine) async throws {
    try await withDatabase(engine, readers: 1) { database in
      try await database.insert("first")
      try await database.read { connection in connection.prefetch([Self.name(1)]) }
      try await database.insert("second")
      #expect(try await database.names() == ["first", "second"])
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a prefetched query that fails is the one that the error names`() async throws {
    try await withPostgreSQL(readers: 1) { database in
      let wrong: SQL = "SELECT 1 / id FROM person"
      try await database.write { try $0.run("INSERT INTO person (id, name) VALUES (0, 'zero')") }
      for _ in 0..<2 {
        let error = await #expect(throws: DatabaseError.self) {
          try await database.read { connection in
            connection.prefetch([wrong, Self.name(0)])
            _ = try Self.number("SELECT count(*) FROM pet", connection)
          }
        }
        #expect(error?.sql == wrong.text)
      }
      #expect(try await database.count() == 1)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a prefetched query that can't be prepared is the one that the error names`() async throws {
    try await withPostgreSQL(readers: 1) { database in
      let error = await #expect(throws: DatabaseError.self) {
        try await database.read { connection in
          connection.prefetch(["SELECT nothing FROM person"])
          _ = try Self.text(Self.name(1), connection)
        }
      }
      #expect(error?.sql == "SELECT nothing FROM person")
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a prefetched value that doesn't fit fails only its own query`() async throws {
    try await withPostgreSQL(readers: 1) { database in
      try await database.insert("first")
      let unfit = Self.id("a\0b")
      try await database.read { connection in
        connection.prefetch([unfit])
        let name = try Self.text(Self.name(1), connection)
        #expect(name == "first")
        let found = Result { try Self.number(unfit, connection) }
        #expect(throws: DatabaseError.self) { try found.get() }
      }
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `prefetched queries survive a change of the schema`() async throws {
    try await withPostgreSQL(readers: 1) { database in
      try await database.insert("first")
      func all() async throws -> [String?] {
        try await database.read { connection in
          connection.prefetch(["SELECT * FROM pet", Self.name(1)])
          let pets = try connection.all("SELECT * FROM person") { try $0.value(1) as String? }
          _ = try connection.all("SELECT * FROM pet") { _ in }
          return pets + [try Self.text(Self.name(1), connection)]
        }
      }
      #expect(try await all() == ["first", "first"])
      try await database.write {
        try $0.run("ALTER TABLE person ADD COLUMN note TEXT")
        try $0.run("ALTER TABLE pet ADD COLUMN note TEXT")
      }
      #expect(try await all() == ["first", "first"])
    }
  }
}
