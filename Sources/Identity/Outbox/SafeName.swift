/// Makes names that people choose safe for the text of a message.
public enum SafeName {
  /// Returns a name on one line, without characters that mail clients turn into links, cut to
  /// `longest` scalars.
  public static func unlinked(_ name: String, longest: Int = Factor.longestName) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(plain(name).unicodeScalars.prefix(longest))
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      switch scalar {
      case "@", "/", "\\": result.append(" ")
      case ".", ":", "\u{3002}", "\u{FF0E}", "\u{FF61}":
        result.append(next.properties.isAlphabetic || next == "/" ? " " : scalar)
      default: result.append(scalar)
      }
    }
    return String(result)
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

  /// Whether text is on one line: it has no control characters and no line separators.
  static func isOneLine(_ text: String) -> Bool {
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
