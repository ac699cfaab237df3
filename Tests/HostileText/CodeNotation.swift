/// How people write the same code.
public enum CodeNotation: String, CaseIterable, Sendable {
  case plain, spaces, hyphens, noBreakSpaces, fullWidth, persian, devanagari

  /// Returns a code of ASCII letters and digits in this notation.
  public func written(_ code: String) -> String {
    switch self {
    case .plain: code
    case .spaces: " " + grouped(code, " ") + "\n"
    case .hyphens: grouped(code, "-")
    case .noBreakSpaces: "\u{A0}" + grouped(code, "\u{A0}")
    case .fullWidth: moved(code, digits: 0xFF10, letters: 0xFF21)
    case .persian: moved(code, digits: 0x6F0, letters: 0x41)
    case .devanagari: moved(code, digits: 0x966, letters: 0x41)
    }
  }

  private func grouped(_ code: String, _ separator: String) -> String {
    code.prefix(3) + separator + code.dropFirst(3)
  }

  private func moved(_ code: String, digits: UInt32, letters: UInt32) -> String {
    var text = String.UnicodeScalarView()
    for scalar in code.unicodeScalars {
      let value =
        switch scalar {
        case "0"..."9": scalar.value - 0x30 + digits
        case "A"..."Z": scalar.value - 0x41 + letters
        default: scalar.value
        }
      if let moved = Unicode.Scalar(value) { text.append(moved) }
    }
    return String(text)
  }
}
