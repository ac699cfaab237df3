/// An email address of a sender or a recipient.
///
/// It can't contain characters that would end it in a command or a header: white space, control
/// characters, and the special characters of RFC 5322 (section 3.2.3).
public struct MailAddress: Sendable, Equatable {
  /// The address, such as `sam@example.com`.
  public let text: String

  private static let marks: Set<Unicode.Scalar> = [
    "<", ">", "(", ")", "[", "]", "\\", ",", ";", ":", "\"", "@",
  ]

  /// Parses an address; nil when it's invalid.
  public init?(_ text: String) {
    guard (3...320).contains(text.utf8.count), let at = text.lastIndex(of: "@") else { return nil }
    let parts = [text[..<at], text[text.index(after: at)...]]
    for part in parts {
      guard !part.isEmpty, part.unicodeScalars.allSatisfy(Self.isPlain) else { return nil }
    }
    self.text = text
  }

  /// The domain after the `@`.
  public var domain: String { String(text.split(separator: "@").last ?? "") }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    guard !marks.contains(scalar), !scalar.properties.isWhitespace else { return false }
    return scalar.value > 32 && !(127...159).contains(scalar.value)
  }
}
