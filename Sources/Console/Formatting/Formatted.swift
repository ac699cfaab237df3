import Crypto
import Identity
import Localization
import MailText

enum Formatted {
  /// A duration: `30 s`, `5 min`, `5 min 30 s`, `1 h`.
  static func duration(seconds: Int) -> Message {
    if seconds >= 3_600, seconds % 3_600 == 0 {
      return Message("{hours}\u{A0}h", ["hours": .number(seconds / 3_600)])
    }
    let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
    if minutes == 0 { return Message("{seconds}\u{A0}s", ["seconds": .number(rest)]) }
    return rest == 0
      ? Message("{minutes}\u{A0}min", ["minutes": .number(minutes)])
      : Message(
        "{minutes}\u{A0}min {seconds}\u{A0}s",
        ["minutes": .number(minutes), "seconds": .number(rest)])
  }

  /// A duration in hours, or in days if it's a multiple of more than one day: `36 hours`, `3 days`.
  static func hours(_ hours: Int) -> Message {
    hours % 24 == 0 && hours > 24
      ? Message(one: "{count} day", other: "{count} days", ["count": .number(hours / 24)])
      : Message(one: "{count} hour", other: "{count} hours", ["count": .number(hours)])
  }

  static func short(_ name: String, _ limit: Int = 80) -> String {
    guard name.utf8.count > limit, name.count > limit else { return name }
    return name.prefix(limit - 1) + "…"
  }
}

extension Formatted {
  /// Formats a key for typing, in groups of four letters.
  static func inFours(_ key: Secret) -> String {
    let letters = Array(key.revealedText)
    return stride(from: 0, to: letters.count, by: 4).map { start in
      String(letters[start..<min(start + 4, letters.count)])
    }.joined(separator: " ")
  }
}

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
      // Apostrophes, since some samples are in a shell's quotes; control characters, JavaScript line
      // terminators, and bidirectional formatting characters.
      case 0..<0x20, 0x27, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
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

extension RequestOrigin {
  /// The program that sent the request; nil if it didn't name itself.
  var program: Message? {
    userAgent.isEmpty
      ? nil : BrowserText.known(userAgent) ?? .verbatim(Formatted.short(userAgent, 60))
  }
}

/// Percentages in forms, addresses, and files, such as `99.95`, which are the same in every language.
enum Percentage {
  /// The percentage without a sign, and without zeros at its end.
  ///
  /// `number` is in units of the last decimal place, at least 0.
  static func text(_ number: Int, places: Int = 2) -> String {
    var (number, places) = (number, places)
    while places > 0, number % 10 == 0 { (number, places) = (number / 10, places - 1) }
    guard places > 0 else { return String(number) }
    var digits = String(number)
    while digits.utf8.count <= places { digits = "0" + digits }
    return "\(digits.dropLast(places)).\(digits.suffix(places))"
  }

  /// The hundredths of a percent; nil unless it's digits, with at most two after a point or comma.
  static func basisPoints(_ text: String) -> Int? {
    let parts = text.utf8.split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",")
    }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard parts.count <= 2, parts[0].count <= 3,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(digits.contains) })
    else { return nil }
    let decimals = parts.count == 2 ? parts[1] : "0".utf8[...]
    guard decimals.count <= 2, let whole = Int(Substring(parts[0])),
      let rest = Int(Substring(decimals))
    else { return nil }
    return whole * 100 + (decimals.count == 1 ? rest * 10 : rest)
  }
}
