/// A list of enrollment IDs as one text: each is followed by a line feed, which no ID contains.
enum EnrollmentIDs {
  static func text(of factors: [Factor]) -> String {
    factors.map { $0.id.text + "\n" }.joined()
  }

  /// Returns the IDs in a text; earlier releases separated them with spaces.
  static func list(in text: String) -> [String] {
    text.split(separator: text.utf8.contains(10) ? "\n" : " ").map(String.init)
  }
}
