public import Database

extension Instant: SQLConvertible {
  /// Reads a time in microseconds since 1970.
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Instant {
    Instant(microseconds: try Int64.read(row, column))
  }

  /// The time in microseconds since 1970.
  public var sqlValue: SQLValue { .integer(microseconds) }
}
