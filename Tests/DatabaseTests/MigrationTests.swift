import Database
import DatabaseSQLite
import Testing

struct MigrationTests {
  private static let first = Migration(
    name: "m0001_first", text: "CREATE TABLE a (x); CREATE TABLE b (x); -- end\n", digest: "d1")
  private static let second = Migration(
    name: "m0002_second", text: "INSERT INTO a VALUES (1)", digest: "d2")

  private static let upgrade = Migration(
    name: "m0001_upgrade", text: "ALTER TABLE former RENAME TO a", digest: "u1")

  /// Returns migrations that begin with a baseline.
  private func list(_ baseline: Migration = first, _ later: Migration...) -> Migrations {
    Migrations(baseline: baseline, upgrade: Self.upgrade, from: "m0000_last", later: later)
  }

  private func expectFailure(
    _ expected: MigrationError, _ migrations: Migrations, on database: SQLiteDatabase,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await #expect(throws: expected, sourceLocation: sourceLocation) {
      try await database.migrate(migrations, at: 0)
    }
  }

  private func values(in database: SQLiteDatabase) async throws -> [Int] {
    try await database.read { try $0.all("SELECT x FROM a") { try $0.next() } }
  }

  @Test func `a modified migration is an error`() async throws {
    try await withDatabase { database in
      try await database.migrate(list(), at: 0)
      let edited = Migration(name: "m0001_first", text: Self.first.text, digest: "other")
      await expectFailure(.changed("m0001_first"), list(edited, Self.second), on: database)
      #expect(try await values(in: database) == [])
    }
  }

  @Test func `a migration of a newer version is an error`() async throws {
    try await withDatabase { database in
      try await database.migrate(list(Self.first, Self.second), at: 0)
      await expectFailure(.unknown("m0002_second"), list(), on: database)
      #expect("\(MigrationError.unknown("m0002_second"))".contains("newer version"))
    }
  }

  @Test func `a migration of a newer version can be tolerated, but not next to a pending one`()
    async throws
  {
    try await withDatabase { database in
      try await database.migrate(list(Self.first, Self.second), at: 0)
      let applied = try await database.migrate(list(), at: 0, toleratesNewer: true)
      #expect(applied == [])
      let later = Migration(name: "m0003_later", text: "SELECT 1", digest: "d4")
      await #expect(throws: MigrationError.unknown("m0002_second")) {
        try await database.pending(list(Self.first, later), toleratesNewer: true)
      }
    }
  }

  @Test func `progress names each migration before it runs`() async throws {
    try await withDatabase { database in
      var steps: [String] = []
      try await database.migrate(list(Self.first, Self.second), at: 0) { name, number, count in
        steps.append("\(number)/\(count) \(name)")
      }
      #expect(steps == ["1/2 m0001_first", "2/2 m0002_second"])
    }
  }

  @Test func `a migration can't be inserted before an applied one`() async throws {
    try await withDatabase { database in
      let last = Migration(name: "m0003_last", text: "SELECT 1", digest: "d4")
      try await database.migrate(list(Self.first, last), at: 0)
      await expectFailure(
        .late("m0002_second"), list(Self.first, Self.second, last), on: database)
    }
  }

  /// Creates a database whose last migration came before the baseline.
  private func makeEarlier(_ database: SQLiteDatabase, last: String) async throws {
    let earlier = Migration(name: "m0000_first", text: "CREATE TABLE former (x)", digest: "e1")
    let next = Migration(name: last, text: "INSERT INTO former VALUES (7)", digest: "e2")
    try await database.migrate(
      Migrations(baseline: earlier, upgrade: earlier, from: "m", later: [next]), at: 0)
  }

  @Test func `a database of the version before the baseline is upgraded and keeps its rows`()
    async throws
  {
    try await withDatabase { database in
      try await makeEarlier(database, last: "m0000_last")
      let migrations = list(Self.first, Self.second)
      #expect(try await database.pending(migrations) == [Self.upgrade, Self.second])
      let applied = try await database.migrate(migrations, at: 0)
      #expect(applied == ["m0001_upgrade", "m0002_second"])
      #expect(try await values(in: database) == [7, 1])
      #expect(try await database.migrate(migrations, at: 0) == [])
      let recorded = try await database.read { connection in
        try connection.all("SELECT name FROM schema_migration") { try $0.next() as String }
      }
      #expect(recorded == ["m0000_first", "m0000_last", "m0001_upgrade", "m0002_second"])
      let edited = Migration(name: "m0001_upgrade", text: "SELECT 1", digest: "other")
      await expectFailure(
        .changed("m0001_upgrade"),
        Migrations(
          baseline: Self.first, upgrade: edited, from: "m0000_last", later: [Self.second]),
        on: database)
    }
  }

  @Test func `an older database is refused and stays as it is`() async throws {
    try await withDatabase { database in
      try await makeEarlier(database, last: "m0000_former")
      await expectFailure(.tooOld("m0000_former"), list(), on: database)
      await #expect(throws: MigrationError.tooOld("m0000_former")) {
        try await database.pending(list(), toleratesNewer: true)
      }
      let rows = try await database.read {
        try $0.all("SELECT x FROM former") { try $0.next() as Int }
      }
      #expect(rows == [7])
    }
  }
}
