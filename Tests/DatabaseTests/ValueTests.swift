import Database
import DatabaseSQLite
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
          try $0.value(0) as Bool
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
            \(nil as String?), \("x" as String?)
          """
        ) { row in
          let column0: Int64 = try row.value(0)
          #expect(column0 == .min)
          let column1: Int = try row.value(1)
          #expect(column1 == .max)
          let column2: Bool = try row.value(2)
          #expect(column2 == true)
          let column3: Bool = try row.value(3)
          #expect(column3 == false)
          let column4: Double = try row.value(4)
          #expect(column4 == -0.5)
          let column5: [UInt8] = try row.value(5)
          #expect(column5 == bytes)
          let column6: [UInt8] = try row.value(6)
          #expect(column6 == [])
          let column7: String? = try row.value(7)
          #expect(column7 == nil)
          let column8: String? = try row.value(8)
          #expect(column8 == "x")
          let kinds = [try row.anyValue(6), try row.anyValue(7)]
          #expect(kinds == [.blob([]), .null])
        }
      }
    }
  }

  @Test func `a value of an unexpected type is an error`() async throws {
    try await withDatabase { database in
      let codes = try await database.read { connection in
        try connection.first("SELECT 'text', NULL, 2, x'ff', CAST(x'ff' AS TEXT)") { row in
          [
            failure(0, of: row, as: Int.self), failure(1, of: row, as: String.self),
            failure(2, of: row, as: Bool.self), failure(3, of: row, as: String.self),
            failure(4, of: row, as: String.self), failure(2, of: row, as: [UInt8].self),
            failure(1, of: row, as: Double.self),
          ]
        }
      }
      #expect(codes == Array(repeating: .unexpectedValue, count: 7))
    }
  }

  @Test func `a missing column is an error, even for an optional value`() async throws {
    try await withDatabase { database in
      let failure = try await code {
        _ = try await database.read { connection in
          try connection.first("SELECT 1") { try $0.value(1) as Int? }
        }
      }
      #expect(failure == .misuse)
    }
  }

  private func failure<T: SQLReadable>(
    _ column: Int, of row: borrowing Row, as type: T.Type
  ) -> DatabaseError.Code? {
    do {
      _ = try row.value(column) as T
      return nil
    } catch {
      return error.code
    }
  }
}
