/// What somebody typed to find a user, ready for the two indexes.
///
/// Every word must occur. One of three characters or more may stand anywhere; a shorter one must be
/// the beginning of a word.
struct SearchQuery: Sendable {
  /// An expression for FTS5, in which every text is quoted; nil when there are short words only.
  let expression: String?
  /// The words of one or two characters.
  let short: [String]
  /// What was typed, for a look at ids and addresses.
  let typed: String

  /// The most words that are looked at; more could only narrow.
  private static let mostWords = 8

  /// Takes what was typed or pasted; nil when nothing of it can be searched for.
  init?(_ text: String) {
    typed = Self.address(in: text.trimmed)
    let folded = SearchText.folded(typed)
    let words = Self.words(of: folded).prefix(Self.mostWords)
    guard !words.isEmpty else { return nil }
    // The longest first: it leaves the fewest.
    let long = words.filter { $0.unicodeScalars.count > 2 }.sorted { $0.utf8.count > $1.utf8.count }
    let short = words.filter { $0.unicodeScalars.count <= 2 }
    let all = long.map(Self.quoted).joined(separator: " AND ")
    guard let number = Self.phoneNumber(folded) else {
      expression = long.isEmpty ? nil : all
      self.short = short
      return
    }
    let isWords = short.isEmpty && !long.isEmpty
    expression = isWords ? "(\(all)) OR \(Self.quoted(number))" : Self.quoted(number)
    self.short = []
  }

  /// The address of a pasted link or mail header (`mailto:…`, `tel:…`, `Name <address>`), else all.
  private static func address(in text: String) -> String {
    let bytes = Array(text.utf8)
    if let close = bytes.lastIndex(of: UInt8(ascii: ">")),
      let open = bytes[..<close].lastIndex(of: UInt8(ascii: "<")),
      bytes[open..<close].contains(UInt8(ascii: "@"))
    {
      return address(in: String(decoding: bytes[(open + 1)..<close], as: UTF8.self).trimmed)
    }
    for scheme in ["mailto:", "tel:", "sms:"] {
      let start = bytes.prefix(scheme.utf8.count).map { $0 | 0x20 }
      guard start.elementsEqual(scheme.utf8.map { $0 | 0x20 }) else { continue }
      let rest = bytes.dropFirst(scheme.utf8.count)
      let end = rest.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: ";") }
      return String(decoding: rest[..<(end ?? rest.endIndex)], as: UTF8.self).trimmed
    }
    return text
  }

  /// The words of a folded text, without the punctuation that separates or surrounds them.
  ///
  /// A word that is nothing but punctuation stays as it is, since a name may have it.
  private static func words(of folded: String) -> [String] {
    folded.unicodeScalars.split { scalar in
      scalar == " " || separators.contains(scalar)
    }.map { word in
      let inner = word.drop { surrounding.contains($0) }
      guard let last = inner.lastIndex(where: { !surrounding.contains($0) }) else {
        return String(String.UnicodeScalarView(word))
      }
      return String(String.UnicodeScalarView(inner[...last]))
    }
  }

  private static let separators: Set<Unicode.Scalar> = [
    ",", ";", "\u{060C}", "\u{061B}", "\u{3001}",
  ]
  private static let surrounding: Set<Unicode.Scalar> = [
    "\"", "<", ">", "[", "]", ":", "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}",
  ]

  /// A text as FTS5 takes it for nothing but text.
  private static func quoted(_ text: String) -> String {
    // By bytes, since a quotation mark with an accent on it is another character to Swift.
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self) + "\""
  }

  /// The digits of what looks like a phone number but is not written as one is kept: in groups, or
  /// with the zero that is dialled inside of a country.
  private static func phoneNumber(_ folded: String) -> String? {
    var digits = ""
    for scalar in folded.unicodeScalars {
      switch scalar {
      case "0"..."9": digits.unicodeScalars.append(scalar)
      case " ", "+", "-", "(", ")", "/", ".": continue
      default: return nil
      }
    }
    let isAsKept = digits == folded || "+" + digits == folded
    let significant = String(digits.drop { $0 == "0" })
    guard significant.utf8.count >= 5, !isAsKept || significant != digits else { return nil }
    return significant
  }
}
