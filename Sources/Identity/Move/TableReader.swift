import Crypto
import Database

/// Reads a table in the order of its key, a batch at a time, so that any number of rows needs
/// little memory.
struct TableReader: Sendable {
  private static let batch = 256

  private let table: StoredTable
  private let columns: [SQLName]
  private var last: [SQLValue]?

  init(_ table: StoredTable, _ columns: [SQLName]) {
    self.table = table
    self.columns = columns
  }

  func rows(_ connection: borrowing Connection) throws -> [[SQLValue]] {
    guard !table.key.isEmpty else {
      throw MoveError.differentSchema([table.name.text])
    }
    return try connection.all(table.rows(columns, after: last, limit: Self.batch)) { row in
      var values: [SQLValue] = []
      var fault: DatabaseError?
      values.reserveCapacity(columns.count)
      for _ in columns {
        do throws(DatabaseError) {
          values.append(try row.next())
        } catch {
          fault = fault ?? error
          values.append(.text("?"))
        }
      }
      if let fault {
        throw MoveError.unreadableValue(
          table: table.name.text, key: key(of: values), reason: fault.message)
      }
      return values
    }
  }

  /// Continues after rows that were read; returns false if there were none.
  mutating func advance(past rows: [[SQLValue]]) -> Bool {
    guard let row = rows.last else { return false }
    last = table.key.map { name in
      columns.firstIndex(of: name).map { row[$0] } ?? .null
    }
    return true
  }

  private func key(of row: [SQLValue]) -> String {
    zip(columns, row).filter { table.key.contains($0.0) }
      .map { name, value in "\(name)=\(Self.shown(value))" }.joined(separator: ", ")
  }

  /// Returns a value of a key, for operators.
  static func shown(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text.replacing("\0", with: "\\0")
    case .blob(let bytes): Hex.encode(bytes)
    }
  }
}
