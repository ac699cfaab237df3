import Database
import DatabaseSQLite
import TestDatabases
import Testing

struct RowTests {
  enum Color: String, SQLConvertible {
    case red
    case green
  }

  enum Size: Int, SQLConvertible {
    case small = 1
    case large = 2
  }

  struct Marks: OptionSet, Sendable, SQLConvertible {
    let rawValue: Int

    static let new = Marks(rawValue: 1)
    static let last = Marks(rawValue: 4)
  }

  struct Shape: Equatable {
    let color: Color
    let size: Size?

    init(color: Color, size: Size?) { (self.color, self.size) = (color, size) }

    init(_ row: inout Row) throws {
      color = try row.next()
      size = try row.next()
    }
  }

  @Test func `columns are read in order, and parts read their own`() async throws {
    try await withDatabase { database in
      let found = try await database.read { connection in
        try connection.all(
          """
          SELECT 1, 'red', 2, 'green', NULL, 'end' UNION ALL SELECT 2, 'green', 1, 'red', 1, NULL
          ORDER BY 1
          """
        ) { row in
          (
            number: try row.next() as Int, shapes: [try Shape(&row), try Shape(&row)],
            end: try row.next() as String?
          )
        }
      }
      // Each row begins with its first column.
      #expect(found.map(\.number) == [1, 2])
      #expect(found.map(\.end) == ["end", nil])
      #expect(
        found.map(\.shapes) == [
          [Shape(color: .red, size: .large), Shape(color: .green, size: nil)],
          [Shape(color: .green, size: .small), Shape(color: .red, size: .small)],
        ])
    }
  }

  @Test func `an enumeration or option set is stored by its raw value`() async throws {
    try await withDatabase { database in
      let marks: Marks = [.new, .last]
      try await database.read { connection in
        try connection.first(
          "SELECT \(Color.green), \(Size.large), \(marks), \(nil as Color?), \(list: [Color.red])"
        ) { row in
          let stored: [SQLValue] = try (0..<5).map { _ in try row.next() }
          #expect(stored == [.text("green"), .integer(2), .integer(5), .null, .text("red")])
        }
        try connection.first("SELECT \(Color.green), \(Size.large), \(marks)") { row in
          let (shape, stored): (Shape, Marks) = (try Shape(&row), try row.next())
          #expect(shape == Shape(color: .green, size: .large))
          #expect(stored == marks)
        }
      }
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: SQL
    let code: DatabaseError.Code
    let read: @Sendable (inout Row) throws -> Void

    init(
      _ description: String, _ sql: SQL, _ code: DatabaseError.Code,
      _ read: @escaping @Sendable (inout Row) throws -> Void
    ) {
      (testDescription, self.sql, self.code, self.read) = (description, sql, code, read)
    }
  }

  static let faults = [
    Fault("after the last column", "SELECT 1", .misuse) {
      _ = try $0.next() as Int
      _ = try $0.next() as Int
    },
    Fault("after the last column, optional", "SELECT 1", .misuse) {
      _ = try $0.next() as Int
      _ = try $0.next() as Int?
    },
    Fault("part after the last column", "SELECT 'red'", .misuse) { _ = try Shape(&$0) },
    Fault("NULL", "SELECT NULL", .unexpectedValue) { _ = try $0.next() as Int },
    Fault("NULL in a part", "SELECT NULL, 1", .unexpectedValue) { _ = try Shape(&$0) },
    Fault("wrong type", "SELECT 'x'", .unexpectedValue) { _ = try $0.next() as Int? },
    Fault("wrong type of a raw value", "SELECT 1", .unexpectedValue) {
      _ = try $0.next() as Color
    },
    Fault("unknown raw value", "SELECT 'blue'", .unexpectedValue) { _ = try $0.next() as Color },
    Fault("unknown raw value, optional", "SELECT 3", .unexpectedValue) {
      _ = try $0.next() as Size?
    },
  ]

  @Test(arguments: faults)
  func `a column that isn't as expected is an error`(fault: Fault) async throws {
    try await withDatabase { database in
      let code = try await code {
        _ = try await database.read { try $0.first(fault.sql, fault.read) }
      }
      #expect(code == fault.code)
    }
  }

  @Test func `a column that can't be read is passed over`() async throws {
    try await withDatabase { database in
      let found = try await database.read { connection in
        try connection.first("SELECT 'blue', 2") { row in
          #expect(throws: DatabaseError.self) { try row.next() as Color }
          return try row.next() as Size
        }
      }
      #expect(found == .large)
    }
  }
}
