import Crypto
import OTP

extension TypedCode {
  /// Returns a folded code; nil unless it has exactly that many digits.
  ///
  /// Text that isn't a code can't be a guess, so forms that limit tries don't count it.
  static func digits(_ count: Int, of text: String) -> String? {
    guard text.utf8.count <= 64 else { return nil }
    let code = folded(text)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return code.utf8.count == count && code.utf8.allSatisfy(digits.contains) ? code : nil
  }
}

/// The format of codes that people read, say, and type: unambiguous letters and digits in groups of
/// four.
enum CodeText {
  static let alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
  /// The length of a recovery code; sixteen characters from an alphabet of 31 are 79 bits.
  static let recoveryLength = 16

  static func grouped(_ letters: String) -> String {
    stride(from: 0, to: letters.count, by: 4).map { letters.dropFirst($0).prefix(4) }
      .joined(separator: "-")
  }

  /// Returns the characters of a typed code without separators; nil if it isn't such a code.
  static func letters(of typed: String) -> String? {
    guard typed.utf8.count <= 64 else { return nil }
    let letters = TypedCode.folded(typed).uppercased().filter { $0.isLetter || $0.isNumber }
    return letters.utf8.count == letters.count ? letters : nil
  }
}
