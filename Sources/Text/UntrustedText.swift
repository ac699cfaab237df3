/// Text that came from outside and was checked for nothing but its encoding.
///
/// Swift compares and hashes a `String` by canonical equivalence, for which it sorts the combining
/// marks of a character: a letter with a hundred thousand marks costs seconds. Untrusted text is
/// compared and hashed byte by byte, in time proportional to its length.
///
/// ```swift
/// form["step"] == "confirm"             // compares bytes
/// try form.text("name", atMost: 1_024)  // a String, for pages and rules
/// ```
///
/// It becomes a `String` only where someone asks for it. Even then nothing in it is expensive: text
/// with more than ``longestRun`` combining marks in a row is rejected by ``init(checking:)``.
public struct UntrustedText: Sendable {
  /// The most bytes in the name of a form field, a parameter, a cookie, or a JSON member.
  public static let longestName = 256
  /// The most combining marks in a row, as in the Stream-Safe Text Format (Unicode Standard Annex
  /// #15, section 13).
  ///
  /// No language needs more than a few.
  public static let longestRun = 30

  /// The text as a `String`, to compare with `isSameBytes(as:)`.
  public let text: String

  /// Wraps text of the program's own, such as the value of a link.
  public init(_ text: String) { self.text = text }

  /// Wraps text from outside, or fails when it has more than ``longestRun`` combining marks in a
  /// row.
  ///
  /// - Parameter text: Valid UTF-8 of any length.
  public init?(checking text: String) {
    guard UntrustedText.isAffordable(text) else { return nil }
    self.text = text
  }

  /// Wraps bytes from outside, or fails when they aren't UTF-8, and for the reason that
  /// ``init(checking:)`` gives.
  public init?(validating bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(checking: text)
  }

  /// The number of bytes in UTF-8.
  public var byteCount: Int { text.utf8.count }

  /// Whether there are no bytes.
  public var isEmpty: Bool { text.isEmpty }

  /// The bytes.
  public var utf8: String.UTF8View { text.utf8 }

  /// The text, or nil when it has more than so many bytes.
  public func text(atMost limit: Int) -> String? {
    byteCount <= limit ? text : nil
  }

  /// Whether the text ends with these bytes.
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
  /// Wraps text that is in the program.
  public init(stringLiteral text: String) { self.init(text) }
}

extension UntrustedText: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension UntrustedText {
  /// The first byte of the first combining mark, U+0300; in UTF-8, larger scalars have larger bytes.
  private static let firstOfMarks: UInt8 = 0xCC

  /// Whether comparing, folding, and splitting a text takes time proportional to its length.
  private static func isAffordable(_ text: String) -> Bool {
    guard !text.utf8Span.isKnownASCII, text.utf8.contains(where: { $0 >= firstOfMarks }) else {
      return true
    }
    var run = 0
    for scalar in text.unicodeScalars {
      guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered
      else {
        run = 0
        continue
      }
      run += 1
      guard run <= longestRun else { return false }
    }
    return true
  }
}
