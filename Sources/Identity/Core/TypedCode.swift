import OTP

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
  static func letters(of code: TypedCode) -> String? {
    guard code.text.utf8.count <= 64 else { return nil }
    let letters = code.text.uppercased().filter { $0.isLetter || $0.isNumber }
    return letters.utf8.count == letters.count ? letters : nil
  }
}
