/// A code as people type or paste it, folded where it enters.
///
/// Whatever looks at a code takes this type, so no rule ever sees the text as it was typed.
public struct TypedCode: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The maximum length that is folded, in bytes; longer text isn't a code.
  private static let longest = 256

  /// The code without spaces, hyphens, and invisible characters, with the digits of every script and
  /// full-width letters as ASCII.
  public let text: String

  /// Folds a code.
  ///
  /// - Parameter typed: The text as typed, such as `123 456` or `۱۲۳۴۵۶`; if it's too long for a code,
  ///   it stays as it is.
  public init(_ typed: String) {
    guard typed.utf8.count <= Self.longest else {
      text = typed
      return
    }
    var code = String.UnicodeScalarView()
    for scalar in typed.unicodeScalars {
      let properties = scalar.properties
      if let digit = Self.digit(properties) {
        code.append(digit)
      } else if !Self.isSeparator(properties) {
        code.append(Self.letter(scalar) ?? scalar)
      }
    }
    text = String(code)
  }

  /// Folds a literal.
  public init(stringLiteral typed: String) { self.init(typed) }

  /// Whether nothing was typed.
  public var isEmpty: Bool { text.isEmpty }

  /// Returns whether the code is that many ASCII digits.
  public func isDigits(_ count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The ASCII digit of a decimal digit (general category Nd).
  private static func digit(_ properties: Unicode.Scalar.Properties) -> Unicode.Scalar? {
    guard properties.generalCategory == .decimalNumber, let value = properties.numericValue else {
      return nil
    }
    return Unicode.Scalar(UInt8(ascii: "0") + UInt8(value))
  }

  /// The ASCII letter of a full-width one, as input methods for Chinese and Japanese type it.
  private static func letter(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    guard scalar.properties.isAlphabetic, (0xFF21...0xFF5A).contains(scalar.value) else {
      return nil
    }
    return Unicode.Scalar(scalar.value - 0xFEE0)
  }

  private static func isSeparator(_ properties: Unicode.Scalar.Properties) -> Bool {
    switch properties.generalCategory {
    case .dashPunctuation, .format: true
    default: properties.isWhitespace || properties.isDefaultIgnorableCodePoint
    }
  }
}
