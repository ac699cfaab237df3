/// Formats counts as text.
enum Words {
  /// Formats a number with its noun: "1 session", "3 sessions".
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }
}
