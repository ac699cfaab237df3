/// Makes names that people choose safe for the text of a message.
public enum SafeName {
  /// The fewest digits that mail clients turn into a phone number.
  private static let leastLinkedDigits = 7
  /// How many of them are left.
  private static let shownDigits = 4

  /// Returns a name on one line, cut to `longest` scalars, without what mail clients turn into links:
  /// web addresses, email addresses, and phone numbers, of which the last four digits are left.
  public static func unlinked(_ name: String, longest: Int = Factor.longestName) -> String {
    // A client may ignore an invisible character between a dot and the letter after it.
    let shown = plain(name).unicodeScalars.lazy.filter { !SearchText.isInvisible($0) }
    let scalars = withoutPhoneNumbers(Array(shown.prefix(longest)))
    var result = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      switch scalar {
      case "@", "\u{FE6B}", "\u{FF20}", "/", "\u{FF0F}", "\\", "\u{FF3C}": result.append(" ")
      case ".", "\u{2024}", "\u{3002}", "\u{FE12}", "\u{FE52}", "\u{FF0E}", "\u{FF61}":
        result.append(startsWord(next) ? " " : scalar)
      case ":", "\u{FE13}", "\u{FE55}", "\u{FF1A}":
        let isScheme = index > 0 && scalars[index - 1].properties.isAlphabetic
        result.append(startsWord(next) || isScheme && next != " " ? " " : scalar)
      case "+", "\u{FE62}", "\u{FF0B}": if !isDigit(next) { result.append(scalar) }
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns text in which numbers as long as phone numbers, with or without separators, are replaced
  /// by their last digits.
  private static func withoutPhoneNumbers(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    var index = 0
    while index < scalars.count {
      guard isDigit(scalars[index]) else {
        result.append(scalars[index])
        index += 1
        continue
      }
      var digits: [Unicode.Scalar] = []
      var (next, end) = (index, index)
      while next < scalars.count {
        if isDigit(scalars[next]) {
          digits.append(scalars[next])
          end = next + 1
        } else if !separatesDigits(scalars[next]) {
          break
        }
        next += 1
      }
      if digits.count < leastLinkedDigits {
        result += scalars[index..<end]
      } else {
        result.append("…")
        result += digits.suffix(shownDigits)
      }
      index = end
    }
    return result
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .decimalNumber
  }

  /// Whether phone numbers have the character between their digits.
  private static func separatesDigits(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ".", "/", "+", "~", "_", "·", "•", "*", "\u{2024}", "\u{2212}", "\u{223C}", "\u{30FC}",
      "\u{FE52}", "\u{FE62}", "\u{FF0B}", "\u{FF0E}", "\u{FF0F}", "\u{FF5E}":
      return true
    default:
      switch scalar.properties.generalCategory {
      case .dashPunctuation, .openPunctuation, .closePunctuation: return true
      default: return scalar.properties.isWhitespace
      }
    }
  }

  /// Whether a character continues an address after a dot or a colon.
  private static func startsWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: scalar.properties.isAlphabetic || scalar == "/"
    }
  }

  /// Returns a name on one line, without control characters and bidirectional marks.
  public static func plain(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result.append(" ")
      case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: continue
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns whether text is on one line: it has no control characters and no line separators.
  public static func isOneLine(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
      default: true
      }
    }
  }

  /// Returns text on one line, without control and formatting characters, cut to `longest` scalars.
  public static func oneLine(_ text: String, longest: Int = 100) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: " "
      default: scalar
      }
    }
    var line = String.UnicodeScalarView()
    line.append(contentsOf: scalars.prefix(longest))
    return String(line)
  }
}
