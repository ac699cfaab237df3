/// Text from outside whose encoding is valid and nothing else is checked.
///
/// Swift compares and hashes a `String` by canonical equivalence, for which it sorts the combining
/// marks of a character: a letter with a hundred thousand marks takes seconds. Untrusted text is
/// compared and hashed byte by byte, in linear time.
///
/// ```swift
/// form["step"] == "confirm"             // compares bytes
/// try form.text("name", atMost: 1_024)  // a String, for pages and rules
/// ```
///
/// It becomes a `String` only on request. Even then, nothing in it is expensive:
/// ``init(checking:)`` rejects text with more than ``longestRun`` combining marks in a row.
public struct UntrustedText: Sendable {
  /// The maximum length of the name of a form field, parameter, cookie, or JSON member, in bytes.
  public static let longestName = 256
  /// The maximum number of combining marks in a row, as in the Stream-Safe Text Format (Unicode
  /// Standard Annex #15, section 13).
  ///
  /// No language needs more than a few.
  public static let longestRun = 30

  /// The text as a `String`, to compare with `isSameBytes(as:)`.
  public let text: String

  /// Creates a value from the program's own text, such as the value of a link.
  public init(_ text: String) { self.text = text }

  /// Creates a value from outside text; nil when it has more than ``longestRun`` combining marks in
  /// a row.
  ///
  /// - Parameter text: Valid UTF-8 of any length.
  public init?(checking text: String) {
    guard UntrustedText.isAffordable(text) else { return nil }
    self.text = text
  }

  /// Creates a value from outside text, without the combining marks after the first ``longestRun`` in
  /// a row.
  ///
  /// - Parameter text: Valid UTF-8 of any length.
  public init(repairing text: String) {
    var run = 0
    let kept = text.unicodeScalars.filter { scalar in
      run = UntrustedText.isMark(scalar) ? run + 1 : 0
      return run <= UntrustedText.longestRun
    }
    self.text = String(String.UnicodeScalarView(kept))
  }

  /// Creates a value from outside bytes; nil when they aren't UTF-8, or for the reason given at
  /// ``init(checking:)``.
  public init?(validating bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(checking: text)
  }

  /// The length in bytes of UTF-8.
  public var byteCount: Int { text.utf8.count }

  /// Whether there are no bytes.
  public var isEmpty: Bool { text.isEmpty }

  /// The bytes.
  public var utf8: String.UTF8View { text.utf8 }

  /// Returns the text; nil when it's longer than `limit` bytes.
  public func text(atMost limit: Int) -> String? {
    byteCount <= limit ? text : nil
  }

  /// Returns whether the text ends with these bytes.
  public func hasSuffix(_ suffix: StaticString) -> Bool {
    text.hasSameBytes(atEnd: suffix.description)
  }
}

extension UntrustedText: Hashable {
  /// Compares the bytes.
  public static func == (one: Self, other: Self) -> Bool { one.text.isSameBytes(as: other.text) }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension UntrustedText: ExpressibleByStringLiteral {
  /// Creates a value from a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension UntrustedText: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension UntrustedText {
  /// The first byte of the first combining mark, U+0300; larger scalars have larger first bytes.
  private static let firstOfMarks: UInt8 = 0xCC

  /// Returns whether comparing, folding, and splitting a text takes linear time.
  private static func isAffordable(_ text: String) -> Bool {
    guard !text.utf8Span.isKnownASCII, text.utf8.contains(where: { $0 >= firstOfMarks }) else {
      return true
    }
    var run = 0
    for scalar in text.unicodeScalars {
      run = isMark(scalar) ? run + 1 : 0
      guard run <= longestRun else { return false }
    }
    return true
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
  }
}
