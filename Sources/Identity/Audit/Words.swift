import Text

/// Formats changes as text.
package enum Words {
  /// Formats a number with its noun: "1 session", "3 sessions".
  package static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  /// Appends how many sessions a change ended; nothing if there were none.
  static func ended(_ number: Int, _ one: String, _ many: String, after words: String? = nil)
    -> String?
  {
    let sessions = number == 0 ? nil : "\(count(number, one, many)) ended"
    let parts = [words, sessions].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  static func onOff(_ flag: Bool) -> String { flag ? "on" : "off" }

  /// Formats the fields that changed, as "name: value; …" before and after.
  ///
  /// If a changed field's text is the same before and after, the text says that it was changed.
  ///
  /// A value can't imitate the start of another field: a space after a semicolon within a value
  /// becomes a no-break space, and control characters are replaced.
  static func difference(
    _ old: [AuditField], _ new: [AuditField]
  ) -> (from: String?, to: String?) {
    let changed = zip(old, new).filter { !$0.isSame(as: $1) }
    guard !changed.isEmpty else { return (nil, nil) }
    return (
      changed.map { old, _ in "\(old.name): \(value(old.words))" }.joined(separator: "; "),
      changed.map { old, new in
        let isTold = !new.words.isSameBytes(as: old.words)
        return "\(new.name): \(value(new.words))\(isTold ? "" : " (changed)")"
      }.joined(separator: "; ")
    )
  }

  private static func value(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var last: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x20 where last == ";": result.append("\u{A0}")
      case 0..<0x20, 0x7F..<0xA0: result.append("\u{FFFD}")
      default: result.append(scalar)
      }
      last = scalar
    }
    return String(result)
  }
}
