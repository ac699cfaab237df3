import Crypto

/// How codes are written that people read, say and type: letters and digits that are not taken for
/// each other, in groups of four.
enum CodeText {
  /// Letters and digits that are not taken for each other.
  static let alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
  /// Sixteen of these 31 letters are 79 bits.
  static let recoveryLength = 16

  /// Letters as people read them: four by four.
  static func grouped(_ letters: String) -> String {
    stride(from: 0, to: letters.count, by: 4).map { letters.dropFirst($0).prefix(4) }
      .joined(separator: "-")
  }

  /// The letters of a typed code, without what stands between them; nil for what is no such code.
  static func letters(of typed: String) -> String? {
    guard typed.utf8.count <= 64 else { return nil }
    let letters = typed.uppercased().filter { $0.isLetter || $0.isNumber }
    return letters.utf8.count == letters.count ? letters : nil
  }
}
