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

/// The result of one write of a pass.
struct ResealedPart {
  /// The position of the last row; nil if there were no rows.
  private(set) var last: String?
  private(set) var rows = 0
  /// The number of rows re-encrypted.
  var changed = 0

  init() {}

  /// Re-encrypts rows.
  ///
  /// - Parameters:
  ///   - rows: The rows, in order.
  ///   - position: The position of a row.
  ///   - reseal: Re-encrypts a row, and returns whether it changed.
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
