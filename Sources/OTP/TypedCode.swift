/// A code as people type or paste it.
public enum TypedCode {
  /// The maximum length that is folded, in bytes; longer text isn't a code.
  private static let longest = 256

  /// Returns a code without spaces, hyphens, and invisible characters, and with the digits of every
  /// script as ASCII digits.
  ///
  /// - Parameter text: The text as typed, such as `123 456` or `۱۲۳۴۵۶`.
  /// - Returns: The code; the text itself if it's too long for one.
  public static func folded(_ text: String) -> String {
    guard text.utf8.count <= longest else { return text }
    var code = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let properties = scalar.properties
      if let digit = digit(properties) {
        code.append(digit)
      } else if !isSeparator(properties) {
        code.append(scalar)
      }
    }
    return String(code)
  }

  /// The ASCII digit of a decimal digit (general category Nd).
  private static func digit(_ properties: Unicode.Scalar.Properties) -> Unicode.Scalar? {
    guard properties.generalCategory == .decimalNumber, let value = properties.numericValue else {
      return nil
    }
    return Unicode.Scalar(UInt8(ascii: "0") + UInt8(value))
  }

  private static func isSeparator(_ properties: Unicode.Scalar.Properties) -> Bool {
    switch properties.generalCategory {
    case .dashPunctuation, .format: true
    default: properties.isWhitespace || properties.isDefaultIgnorableCodePoint
    }
  }
}
