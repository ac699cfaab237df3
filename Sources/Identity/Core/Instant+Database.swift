public import Database

extension Instant: SQLReadable {
  /// Reads a time in microseconds since 1970.
  public static func read(
    _ row: borrowing Row, _ column: Int
  ) throws(DatabaseError) -> Instant {
    Instant(microseconds: try Int64.read(row, column))
  }
}
