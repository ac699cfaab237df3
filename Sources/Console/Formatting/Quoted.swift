/// Formats texts as string literals of the languages of the samples.
enum Quoted {
  /// A literal for JavaScript, JSON, Python, and Go, which share these escapes.
  static func script(_ text: String) -> String {
    quoted(text) { "\\u" + hex($0, digits: 4) }
  }

  /// A literal for Kotlin, where a dollar sign starts a template.
  static func kotlin(_ text: String) -> String {
    script(text).replacing("$", with: "\\$")
  }

  /// A literal for Swift, whose escapes use braces.
  static func swift(_ text: String) -> String {
    quoted(text) { "\\u{" + hex($0, digits: 1) + "}" }
  }

  private static func quoted(
    _ text: String, _ escape: (Unicode.Scalar) -> String
  ) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: result += "\\\(scalar)"
      // Control characters, JavaScript line terminators, and bidirectional formatting characters.
      case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
        result += escape(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func hex(_ scalar: Unicode.Scalar, digits: Int) -> String {
    let text = String(scalar.value, radix: 16)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }
}
