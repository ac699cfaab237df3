import Crypto
public import Database
import Text

/// The ID of an object of type `Owner`; IDs of different types can't be mixed up.
///
/// IDs are opaque text. They're compared byte for byte, as in the database, rather than by Swift's
/// canonical equivalence, which treats different encodings of a character as equal.
public struct ID<Owner>: Hashable, Sendable, CustomStringConvertible {
  public let text: String

  /// Creates an ID from text without checking that the object exists.
  public init(_ text: String) { self.text = text }

  /// Creates an ID from text; nil if it's empty, as columns store that there's no tenant.
  init?(nonEmpty text: String) {
    guard !text.isEmpty else { return nil }
    self.init(text)
  }

  public var description: String { text }

  public static func == (left: ID, right: ID) -> Bool { left.text.isSameBytes(as: right.text) }

  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension ID: SQLConvertible {
  public static func read(_ row: borrowing Row, _ column: Int) throws(DatabaseError) -> ID {
    ID(try String.read(row, column))
  }

  public var sqlValue: SQLValue { text.sqlValue }
}

/// Generates IDs that sort by creation time: 8 bytes of microseconds followed by 8 random bytes.
///
/// New rows are stored next to one another, so a transaction with many rows writes few pages.
enum TimeOrderedID {
  static let length = 16

  static func make(at now: Instant, random: RandomSource) -> [UInt8] {
    Array(first(at: now).prefix(8) + random.bytes(8))
  }

  /// Returns an ID that sorts before every ID generated at or after a time.
  static func first(at moment: Instant) -> [UInt8] {
    let bytes = stride(from: Int64(56), through: 0, by: -8).map { shift in
      UInt8(truncatingIfNeeded: moment.microseconds >> shift)
    }
    return bytes + [UInt8](repeating: 0, count: 8)
  }
}
