/// An email address that a mail can come from or go to.
///
/// It cannot hold what would end it in a command or in a header: blanks, control characters, and
/// the marks that RFC 5322 has for other things (section 3.2.3).
public struct MailAddress: Sendable, Equatable {
  /// The address, such as `sam@example.com`.
  public let text: String

  private static let marks: Set<Unicode.Scalar> = [
    "<", ">", "(", ")", "[", "]", "\\", ",", ";", ":", "\"", "@",
  ]

  /// Reads an address; nil for what is none.
  public init?(_ text: String) {
    guard (3...320).contains(text.utf8.count), let at = text.lastIndex(of: "@") else { return nil }
    let parts = [text[..<at], text[text.index(after: at)...]]
    for part in parts {
      guard !part.isEmpty, part.unicodeScalars.allSatisfy(Self.isPlain) else { return nil }
    }
    self.text = text
  }

  /// What stands behind the `@`.
  public var domain: String { String(text.split(separator: "@").last ?? "") }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    guard !marks.contains(scalar), !scalar.properties.isWhitespace else { return false }
    return scalar.value > 32 && !(127...159).contains(scalar.value)
  }
}
