import Database
import DatabasePostgreSQL
import TestDatabases
import Testing

@Suite(.enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(2)))
struct ValueTests {
  static let texts = [
    "", "plain", "'; DROP TABLE person; --", "\\", "👩‍👩‍👧‍👦 é 日本語", "\u{1}\u{7f}\n",
    String(repeating: "long ", count: 100_000),
  ]

  @Test(arguments: texts)
  func `text is read as it was written`(text: String) async throws {
    try await withPostgreSQL { database in
      try await database.write { try $0.run("CREATE TABLE note (text TEXT)") }
      try await database.write { try $0.run("INSERT INTO note VALUES (\(text))") }
      let found = try await database.read { connection in
        try connection.first("SELECT text, text = \(text) FROM note WHERE text = \(text)") { row in
          let (found, isEqual): (String, Bool) = (try row.next(), try row.next())
          #expect(isEqual)
          return found
        }
      }
      #expect(found.map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test func `text with a NUL character is refused, and the write can go on`() async throws {
    try await withPostgreSQL { database in
      let failure = try await database.write { connection in
        let failure = #expect(throws: DatabaseError.self) {
          try connection.run("INSERT INTO person (name) VALUES (\("a\0b"))")
        }
        try connection.run("INSERT INTO person (name) VALUES ('c')")
        return failure
      }
      #expect(failure?.code == .unexpectedValue)
      #expect(failure?.message.contains("NUL") == true)
      #expect(try await database.names() == ["c"])
    }
  }

  @Test func `every kind of value is read as it was written`() async throws {
    try await withPostgreSQL { database in
      let bytes: [UInt8] = [0, 255, 0, 1]
      let all = try await database.read { connection in
        try connection.first(
          """
          SELECT \(Int64.min)::bigint, \(Int.max)::bigint, \(true)::boolean, \(false)::boolean,
            \(-0.5)::float8, \(bytes)::bytea, \([] as [UInt8])::bytea, \(nil as String?)::text,
            \("x")::varchar, \(-2)::smallint, \(-70_000)::integer, \(0.25)::real, \(7)::numeric,
            \(1.5)::numeric, \("n")::name, \(3)::float8, ''::text, \(Double.infinity)::float8
          """
        ) { row in
          try (0..<row.columnCount).map { _ in try row.next() as SQLValue }
        }
      }
      #expect(
        all == [
          .integer(.min), .integer(.max), .integer(1), .integer(0), .real(-0.5), .blob(bytes),
          .blob([]), .null, .text("x"), .integer(-2), .integer(-70_000), .real(0.25), .integer(7),
          .real(1.5), .text("n"), .real(3), .text(""), .real(.infinity),
        ])
    }
  }

  @Test func `values are stored in columns of every type`() async throws {
    try await withPostgreSQL { database in
      try await database.write { connection in
        try connection.run(
          """
          CREATE TABLE kinds (a BOOLEAN, b SMALLINT, c INTEGER, d BIGINT, e REAL, f FLOAT8,
            g NUMERIC, h TEXT, i BYTEA, j JSONB, k CHAR(3))
          """)
        try connection.run(
          """
          INSERT INTO kinds VALUES (\(true), \(1), \(2), \(Int64.max), \(0.5), \(2), \(3), \(""),
            \([] as [UInt8]), \("{\"a\": 1}"), \("abc"))
          """)
        try connection.run("INSERT INTO kinds (a, d) VALUES (\(nil as Bool?), \(nil as Int?))")
      }
      let row = try await database.read { connection in
        try connection.all("SELECT a, b, c, d, e, f, g, h, i, j::text, k FROM kinds ORDER BY d") {
          row in try (0..<row.columnCount).map { _ in try row.next() as SQLValue }
        }
      }
      #expect(
        row.first == [
          .integer(1), .integer(1), .integer(2), .integer(.max), .real(0.5), .real(2), .integer(3),
          .text(""), .blob([]), .text("{\"a\": 1}"), .text("abc"),
        ])
      #expect(row.last == Array(repeating: .null, count: 11))
    }
  }

  @Test(
    arguments: [
      ("0", SQLValue.integer(0)), ("1.50", .real(1.5)), ("-0.0001", .real(-0.0001)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .real(9_223_372_036_854_775_808)), ("10000", .integer(10_000)),
      ("-120000000", .integer(-120_000_000)), ("1e20", .real(1e20)), ("3.000", .integer(3)),
      ("12345678.9", .real(12_345_678.9)), ("'-infinity'", .real(-.infinity)),
      ("99990000.0001", .real(99_990_000.0001)),
    ] as [(String, SQLValue)])
  func `a numeric is an integer if it can be`(text: String, expected: SQLValue) async throws {
    let literal = text.replacing("'", with: "")
    try await withPostgreSQL { database in
      let found = try await database.read { connection in
        try connection.first("SELECT \(literal)::text::numeric") { try $0.next() as SQLValue }
      }
      #expect(found == expected)
    }
  }

  @Test func `sums and counts are integers`() async throws {
    try await withPostgreSQL { database in
      try await database.write { connection in
        try connection.run("INSERT INTO person (name, age) VALUES ('a', 1), ('b', 2)")
      }
      let found = try await database.read { connection in
        try connection.first("SELECT sum(age), count(*), avg(age), max(age) FROM person") { row in
          try (0..<4).map { _ in try row.next() as SQLValue }
        }
      }
      #expect(found == [.integer(3), .integer(2), .real(1.5), .integer(2)])
    }
  }

  @Test(
    arguments: [
      "SELECT \("text")::bigint", "SELECT \(1)::text", "SELECT \([1] as [UInt8])::text",
      "SELECT \(2)::boolean", "SELECT \(70_000)::smallint", "SELECT \(1.5)::bigint",
      "SELECT \("x")::bytea",
    ] as [SQL])
  func `a value that doesn't fit its parameter is refused`(sql: SQL) async throws {
    try await withPostgreSQL { database in
      let failure = try await code { try await database.read { try $0.run(sql) } }
      #expect(failure == .misuse)
    }
  }

  @Test func `a column of an unexpected type is an error`() async throws {
    try await withPostgreSQL { database in
      let codes = try await database.read { connection in
        try connection.first(
          "SELECT 'text', NULL, NULL, 2, 2, '\\xff'::bytea, now(), 1.5::numeric"
        ) { row in
          [
            failure(of: &row, as: Int.self), failure(of: &row, as: String.self),
            failure(of: &row, as: Double.self), failure(of: &row, as: Bool.self),
            failure(of: &row, as: [UInt8].self), failure(of: &row, as: String.self),
            failure(of: &row, as: String.self), failure(of: &row, as: Int.self),
          ]
        }
      }
      #expect(codes == Array(repeating: .unexpectedValue, count: 8))
    }
  }

  private func failure<T: SQLReadable>(
    of row: inout Row, as type: T.Type
  ) -> DatabaseError.Code? {
    do {
      _ = try row.next() as T
      return nil
    } catch {
      return error.code
    }
  }
}
