import Crypto
import Database
import DatabaseSQLite
@testable import Identity
import TestDatabases
import Testing

@testable import TestIdentity

/// The copy of all tables; its way through PostgreSQL is in the acceptance tests.
@Suite(.enabled(if: TestDatabase.isSQLite))
struct MoveTests {
  /// A destination in which something else changes rows.
  private struct Meddled: DatabaseWriter {
    let database: SQLiteDatabase
    let change: @Sendable (borrowing Connection) throws -> Void

    func write<T: Sendable>(
      _ body: @escaping @Sendable (borrowing Connection) throws -> T
    ) async throws -> T {
      let value = try await database.write(body)
      try await database.write { connection in
        // Before that, there's no schema.
        guard try connection.catalog.tables(connection).count > 1 else { return }
        try change(connection)
      }
      return value
    }
  }

  private func inspect(
    _ source: any Database, _ keys: KeyRing
  ) async throws -> MoveInventory {
    try await InstanceMove.inspect(source, keys: keys) { _, _ in }
  }

  private func move(
    _ instance: Instance, to destination: any DatabaseWriter
  ) async throws -> MoveInventory {
    let source = try instance.source()
    let result: Result<MoveInventory, any Error>
    do {
      let inventory = try await inspect(source, instance.keys)
      try await InstanceMove.fill(
        destination, from: source, inventory, at: instance.now
      ) { _, _ in }
      result = .success(inventory)
    } catch {
      result = .failure(error)
    }
    await source.close()
    return try result.get()
  }

  @Test func `a moved instance has every row and a record of the move`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      try await withDestination { database in
        let inventory = try await move(instance, to: database)
        #expect(inventory.tables.contains { $0.name == "account" && $0.digest.rows > 0 })
        #expect(!inventory.tables.contains { $0.name.hasPrefix("account_search") })
        let copy = try Identity(
          database: database, keys: instance.keys, profile: .standalone, hasher: .cheap,
          mail: TestMail.writer, clock: instance.clock.wall)
        try await copy.prepare(creates: false)
        _ = try await copy.sessions.check(alice.session)
        let entry = try #require(try await copy.audit.list().items.first)
        #expect(entry.action == .instanceMove && entry.actorKind == "command line")
        let tables = try await database.read { try $0.catalog.tables($0).count }
        // And the table of migrations.
        #expect(tables == inventory.tables.count + 1)
        try await database.write { connection in
          // Triggers and indexes are back.
          let triggers = try connection.catalog.suspendTriggers(connection)
          let indexes = try connection.all("SELECT name FROM \(SQL.indexes)") { _ in true }
          #expect(triggers.count == 16 && indexes.count > 100)
        }
      }
    }
  }

  @Test func `a row that changes on its way is found`() async throws {
    try await withInstance { instance in
      try await withDestination { database in
        let meddled = Meddled(database: database) { connection in
          try connection.run("UPDATE project /* test */ SET display_name = 'changed'")
        }
        let found = try await details { _ = try await move(instance, to: meddled) }
        #expect(found == ["differentRows", "project"])
      }
      try await withDestination { database in
        let meddled = Meddled(database: database) { connection in
          try connection.run("DELETE FROM signing_key /* test */")
        }
        let found = try await details { _ = try await move(instance, to: meddled) }
        #expect(found == ["differentRows", "signing_key"])
      }
    }
  }

  @Test func `a destination with any table is refused`() async throws {
    try await withInstance { instance in
      try await withDestination { database in
        try await database.write { connection in
          try connection.runScript("CREATE TABLE precious (id BIGINT)")
        }
        let found = try await details { _ = try await move(instance, to: database) }
        #expect(found == ["notEmpty", "precious"])
      }
    }
  }

  @Test func `another key, a missing migration, and a newer one are refused`() async throws {
    try await withInstance { instance in
      await expect("source.wrongKey") {
        _ = try await inspect(instance.source(), KeyRing(random: .system))
      }
      try await instance.database.write { connection in
        try connection.run(
          """
          INSERT INTO schema_migration /* test */ (name, digest, applied_at)
          VALUES ('m9999_later', '', 1)
          """)
      }
      await expect("source.migration.unknown") {
        _ = try await inspect(instance.source(), instance.keys)
      }
      let migrations = Identity.migrations(for: .sqlite)
      try await instance.database.write { connection in
        try connection.run(
          "DELETE FROM schema_migration /* test */ WHERE name <> \(migrations.baseline.name)")
        try connection.run("UPDATE schema_migration /* test */ SET name = \(migrations.upgradable)")
      }
      let found = try await details { _ = try await inspect(instance.source(), instance.keys) }
      #expect(
        found == ["notMigrated"] + ([migrations.upgrade] + migrations.later).map(\.name))
    }
  }

  @Test func `text that PostgreSQL can't store is reported with its row`() async throws {
    try await withInstance { instance in
      try await instance.database.write { connection in
        try connection.run(
          """
          INSERT INTO former_address /* test */ (account_key, address)
          SELECT account_key, \("a\0b") FROM account LIMIT 1
          """)
        try connection.run(
          "INSERT INTO throttle (name, failures, blocked_until, expires_at) VALUES (\("x\0"), 1, 1, 1)"
        )
      }
      let found = try await details {
        _ = try await inspect(instance.source(), instance.keys)
      }
      #expect(found == ["unstorableText", "throttle", "name", #"name=x\0"#])
      try await instance.database.write { connection in
        try connection.run("DELETE FROM throttle /* test */")
        try connection.run("DELETE FROM former_address /* test */")
      }
    }
  }

  @Test func `a digest has each value with its type`() {
    var digest = TableDigest()
    digest.add([.null, .integer(-1), .real(0.5), .text("é\0"), .blob([1, 2])])
    digest.add([.integer(7)])
    #expect(digest.rows == 2)
    #expect(
      Hex.encode(digest.value)
        == "254dd8f106c2ef5b7125d06814145871e98b9ace4138b596983b9c8155fe36e4")
  }

  @Test func `tables come after those that they refer to`() throws {
    func table(_ name: String, _ references: [String] = []) throws -> StoredTable {
      StoredTable(
        try .named(name), columns: [], references: Set(try references.map { try .named($0) }))
    }
    let tables = [
      try table("a", ["b", "c"]), try table("b", ["c"]), try table("c", ["c"]), try table("d"),
    ]
    #expect(try InstanceMove.ordered(tables).map(\.name.text) == ["c", "d", "b", "a"])
    #expect(throws: MoveError.self) {
      try InstanceMove.ordered([try table("a", ["b"]), try table("b", ["a"])])
    }
  }
}

extension Instance {
  /// The same database, opened for a move.
  fileprivate func source() throws -> ReadOnlySQLiteDatabase {
    try ReadOnlySQLiteDatabase(path: try #require(test.path))
  }
}

/// Returns the error of a move and what it names.
private func details(_ body: () async throws -> Void) async throws -> [String] {
  guard let error = try await thrown(MoveError.self, body) else { return [] }
  return switch error {
  case .notMigrated(let names), .notEmpty(let names), .differentRows(let names):
    [caseName(error)] + names
  case .unstorableText(let table, let column, let key): [caseName(error), table, column, key]
  default: [caseName(error)]
  }
}

/// Runs a test with a destination.
private func withDestination(_ body: (SQLiteDatabase) async throws -> Void) async throws {
  try await withEmptyDatabase { try await body(try #require($0 as? SQLiteDatabase)) }
}
