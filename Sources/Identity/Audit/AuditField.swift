import Text

/// A field of something that can be changed: its value, which decides whether it did, and the words
/// that the audit log has for it.
struct AuditField {
  let name: String
  let words: String
  /// Texts are compared byte for byte, and none is another value than any text.
  private let value: [String?]

  /// A field of which the words tell every two values apart.
  init(_ name: String, _ words: String) {
    self.init(name, words, value: [words])
  }

  /// A field of which the words leave something out.
  init(_ name: String, _ words: String, value: [String?]) {
    self.name = name
    self.words = words
    self.value = value
  }

  /// A text that can be absent, and then is called “none”; one that says so itself is in quotes.
  static func optional(_ name: String, _ text: String?, absent: String = "none") -> AuditField {
    let words = text.map { $0.isSameBytes(as: absent) ? "“\($0)”" : $0 } ?? absent
    return AuditField(name, words, value: [text])
  }

  func isSame(as other: AuditField) -> Bool {
    value.count == other.value.count
      && zip(value, other.value).allSatisfy { left, right in
        guard let left, let right else { return left == nil && right == nil }
        return left.isSameBytes(as: right)
      }
  }
}
