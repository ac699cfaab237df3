import Text

/// A field in a before-and-after comparison: its value, which decides whether it changed, and its
/// text for the audit log.
struct AuditField {
  let name: String
  let words: String
  /// Text is compared byte for byte, and nil differs from any text.
  private let value: [String?]

  /// Creates a field whose text is different for every two values.
  init(_ name: String, _ words: String) {
    self.init(name, words, value: [words])
  }

  /// Creates a field whose text omits part of the value.
  init(_ name: String, _ words: String, value: [String?]) {
    self.name = name
    self.words = words
    self.value = value
  }

  /// Creates a field for optional text, shown as “none” if nil; text that itself reads “none” is
  /// quoted.
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
