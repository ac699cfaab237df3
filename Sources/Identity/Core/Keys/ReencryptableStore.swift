import Database

/// A table with sealed columns, which is re-encrypted in parts when the master key is rotated.
///
/// A new sealed column requires a type that conforms to this protocol and is registered in
/// `Identity.init`. Sealed data that clients hold, such as tickets, isn't stored and therefore
/// needs none: it expires.
protocol ReencryptableStore: Sendable {
  /// The name under which the progress of a pass is stored; it must never change.
  static var name: String { get }

  /// Re-encrypts up to `limit` rows after a position that are sealed with another key than the
  /// newest.
  ///
  /// The first position is the empty string.
  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart
}

struct ResealedPart {
  /// The position of the last row; nil if there were no rows.
  private(set) var last: String?
  private(set) var rows = 0
  var changed = 0

  init() {}

  /// Counts the rows for which `reseal` returns true as re-encrypted.
  init<Row>(
    _ rows: [Row], at position: (Row) -> String, reseal: (Row) throws -> Bool
  ) rethrows {
    for row in rows {
      read(position(row))
      if try reseal(row) { changed += 1 }
    }
  }

  mutating func read(_ position: String) {
    last = position
    rows += 1
  }
}

extension ResealedPart {
  /// Re-encrypts the rows of a table with one sealed column, which are found by an ID.
  ///
  /// The closure returns nil for a value that is sealed with the newest key.
  ///
  /// - Throws: ``UnreadableSecret``, and database errors.
  init(
    of table: SQL, by key: SQL, _ column: SQL, after position: String, limit: Int,
    _ connection: borrowing Connection, reseal: (_ id: String, _ sealed: [UInt8]) throws -> [UInt8]?
  ) throws {
    let rows = try connection.all(
      """
      SELECT \(key), \(column) FROM \(table) WHERE \(key) > \(position)
      ORDER BY \(key) LIMIT \(limit)
      """
    ) { row in (id: try row.next() as String, sealed: try row.next() as [UInt8]?) }
    try self.init(rows, at: \.id) { row in
      guard let sealed = row.sealed, let box = try reseal(row.id, sealed) else { return false }
      try connection.run("UPDATE \(table) SET \(column) = \(box) WHERE \(key) = \(row.id)")
      return true
    }
  }
}

/// The position of a row that's found by a number and a text or a second number.
struct PairPosition<Second: LosslessStringConvertible> {
  let first: Int64
  let second: Second

  init(_ first: Int64, _ second: Second) {
    (self.first, self.second) = (first, second)
  }

  /// Reads a position; the first one is before all others and has `least` as its second part.
  init(_ text: String, least: Second) {
    let parts = text.split(separator: " ", maxSplits: 1)
    if parts.count == 2, let first = Int64(parts[0]), let second = Second(String(parts[1])) {
      self.init(first, second)
    } else {
      self.init(0, least)
    }
  }

  var text: String { "\(first) \(second)" }
}
