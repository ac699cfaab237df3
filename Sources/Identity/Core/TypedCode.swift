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
