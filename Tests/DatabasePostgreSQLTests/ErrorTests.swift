import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ErrorTests {
  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `no error contains a value`() async throws {
    try await withPostgreSQL { database in
      try await database.insert("marker)=(marker")
      let statements: [SQL] = [
        "INSERT INTO person (name) VALUES (\("marker)=(marker"))",
        "SELECT \("marker")::bigint", "SELECT CAST(\("marker")::text AS bigint)",
        "SELECT CAST(\("marker")::text AS numeric)", "SELECT CAST(\("marker")::text AS boolean)",
        "SELECT CAST(\("marker")::text AS json)",
        "SELECT CAST(\("marker")::text AS timestamptz)", "SELECT CAST(\("marker")::text AS uuid)",
        "SELECT CAST(\("99999999999123")::text AS integer)", "SELECT \("mar\0ker")::text",
        "INSERT INTO person (name, age) VALUES ('x', \("marker"))",
        "INSERT INTO person (name, age) SELECT \("marker"), -1",
        "INSERT INTO pet (owner, name) SELECT NULL, \("marker")",
        "SELECT regexp_match('x', \("marker(")::text)",
        "SELECT decode(\("marker")::text, 'hex')", "SELECT \(99_999_999_999_123)::integer",
        "SELECT 1 / (\(0)::bigint)",
      ]
      for sql in statements {
        let error = await #expect(throws: DatabaseError.self, "\(sql)") {
          try await database.write { try $0.run(sql) }
        }
        let text = error.map { "\($0) \($0.code)" } ?? ""
        #expect(!text.contains("marker"), "\(text)")
        #expect(!text.contains("9123"), "\(text)")
      }
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `an error has the SQL with parameters and the state`() async throws {
    try await withPostgreSQL { database in
      let error = await #expect(throws: DatabaseError.self) {
        try await database.write { connection in
          for _ in 0..<2 { try connection.run("INSERT INTO person (name) VALUES (\("a"))") }
        }
      }
      #expect(error?.sql == "INSERT INTO person (name) VALUES ($1)")
      #expect(error?.message.hasSuffix("(SQLSTATE 23505)") == true)
      #expect(error?.extendedCode == Int32("23505", radix: 36))
      let missing = try await code { try await database.read { try $0.run("SELECT 1 FROM no") } }
      #expect(missing == .other(Int32("42P01", radix: 36) ?? 0))
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a server that isn't there is an error, and so is a missing database`() async throws {
    let server = try await PostgreSQLServer.shared.value
    for (text, expected) in [
      ("postgresql://postgres@127.0.0.1:1/x", DatabaseError.Code.unreachable),
      ("postgresql://postgres@:\(server.port)/missing?host=\(server.folder)", .cannotOpen),
      ("postgresql://postgres@:1/x?host=\(server.folder)", .unreachable),
      ("postgresql://nobody@:\(server.port)/postgres?host=\(server.folder)", .cannotOpen),
    ] {
      let address = try PostgreSQLAddress(text)
      let failure = try await code { try await PostgreSQLDatabase(address) }
      #expect(failure == expected, "\(text)")
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `too many connections are an error that passes`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let place = ["-h", server.folder, "-p", "\(server.port)", "-U", "postgres"]
    try #require(server.run("createuser", place + ["--connection-limit=1", "limited"]))
    let address = try PostgreSQLAddress(
      "postgresql://limited@:\(server.port)/postgres?host=\(server.folder)")
    let one = try await PostgreSQLDatabase(address)
    #expect(try await code { try await PostgreSQLDatabase(address) } == .busy)
    await one.close()
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a database that doesn't compare texts by their bytes is refused`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let place = ["-h", server.folder, "-p", "\(server.port)", "-U", "postgres"]
    let icu = [
      "--template=template0", "--locale-provider=icu", "--icu-locale=und", "--lc-collate=C",
    ]
    try #require(server.run("createdb", place + icu + ["by_language"]))
    let address = try PostgreSQLAddress(
      "postgresql://postgres@:\(server.port)/by_language?host=\(server.folder)")
    let error = await #expect(throws: DatabaseError.self) { try await PostgreSQLDatabase(address) }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.hasSuffix("the database must be created with the collation C") == true)
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `with too few connections, reads and writes wait for those that are open`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let place = ["-h", server.folder, "-p", "\(server.port)", "-U", "postgres"]
    try #require(server.run("createuser", place + ["--connection-limit=3", "few"]))
    let address = try PostgreSQLAddress(
      "postgresql://few@:\(server.port)/postgres?host=\(server.folder)")
    let database = try await PostgreSQLDatabase(address, readers: 4, writers: 4)
    try await database.write { _ = try $0.first("SELECT 1") { _ in } }
    let sleep: SQL = "SELECT 1 FROM pg_sleep(0.05)"
    try await withThrowingTaskGroup { group in
      for number in 0..<60 {
        group.addTask {
          switch number % 3 {
          case 0: try await database.read { _ = try $0.first(sleep) { _ in } }
          case 1: _ = try await database.write { _ = try $0.first(sleep) { _ in } }
          default:
            try await database.snapshot {
              try await database.read { _ = try $0.first(sleep) { _ in } }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    await database.close()
  }
}
