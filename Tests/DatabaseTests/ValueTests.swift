import Database
import DatabaseSQLite
import TestDatabases
import Testing

struct ValueTests {
  static let texts = [
    "", "plain", "'; DROP TABLE person; --", "a\0b\0", "\0", "👩‍👩‍👧‍👦 é 日本語",
    String(repeating: "long ", count: 5000),
  ]

  @Test(arguments: texts)
  func `text is read as it was written`(text: String) async throws {
    try await withDatabase { database in
      try await database.insert(text)
      #expect(try await database.names() == [text])
      let found = try await database.read { connection in
        try connection.first("SELECT \(text) = name FROM person WHERE name = \(text)") {
          try $0.next() as Bool
        }
      }
      #expect(found == true)
    }
  }

  @Test func `every kind of value is read as it was written`() async throws {
    try await withDatabase { database in
      let bytes: [UInt8] = [0, 255, 0, 1]
      try await database.read { connection in
        try connection.first(
          """
          SELECT \(Int64.min), \(Int.max), \(true), \(false), \(-0.5), \(bytes), \([] as [UInt8]),
            \(nil as String?), \("x" as String?), x'', NULL
          """
        ) { row in
          let column0: Int64 = try row.next()
          #expect(column0 == .min)
          let column1: Int = try row.next()
          #expect(column1 == .max)
          let column2: Bool = try row.next()
          #expect(column2 == true)
          let column3: Bool = try row.next()
          #expect(column3 == false)
          let column4: Double = try row.next()
          #expect(column4 == -0.5)
          let column5: [UInt8] = try row.next()
          #expect(column5 == bytes)
          let column6: [UInt8] = try row.next()
          #expect(column6 == [])
          let column7: String? = try row.next()
          #expect(column7 == nil)
          let column8: String? = try row.next()
          #expect(column8 == "x")
          let kinds: [SQLValue] = [try row.next(), try row.next()]
          #expect(kinds == [.blob([]), .null])
        }
      }
    }
  }

  @Test func `a value of an unexpected type is an error`() async throws {
    try await withDatabase { database in
      let codes = try await database.read { connection in
        try connection.first(
          "SELECT 'text', NULL, NULL, 2, 2, x'ff', CAST(x'ff' AS TEXT)"
        ) { row in
          [
            failure(of: &row, as: Int.self), failure(of: &row, as: String.self),
            failure(of: &row, as: Double.self), failure(of: &row, as: Bool.self),
            failure(of: &row, as: [UInt8].self), failure(of: &row, as: String.self),
            failure(of: &row, as: String.self),
          ]
        }
      }
      #expect(codes == Array(repeating: .unexpectedValue, count: 7))
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
