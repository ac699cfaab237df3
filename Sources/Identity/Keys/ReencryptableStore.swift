import Database

/// A table with something sealed in it, which is gone over in parts when the master key is rotated.
///
/// Whoever seals something into a new column makes a place of it, and names it in `Identity.init`.
/// What is sealed and carried by clients, such as tickets, has no place: it runs out.
protocol ReencryptableStore: Sendable {
  /// The name under which is kept how far a pass has gone; it never changes.
  static var name: String { get }

  /// Seals with the newest key what another one sealed, of at most `limit` rows behind a position.
  ///
  /// The first position is the empty text.
  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart
}

/// What was done of a pass in one write.
struct ResealedPart {
  /// The position of the last row; nil when there was none.
  private(set) var last: String?
  private(set) var rows = 0
  /// How many rows were sealed anew.
  var changed = 0

  mutating func read(_ position: String) {
    last = position
    rows += 1
  }
}
