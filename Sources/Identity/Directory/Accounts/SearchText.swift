import Foundation
package import Text

/// The searchable text of an account: a copy folded to ignore case, accents, and character width.
///
/// The lines are the email address, with the addresses and names at linked providers, the display
/// name, the phone number, and the uid, then the enrollment IDs and the numbers of phones that are
/// second factors.
package struct SearchText: Sendable {
  package let folded: String
  /// The name line, used to sort lists; nil if the account has no name.
  package let name: String?

  init(folded: String) {
    self.folded = folded
    let lines = folded.split(separator: "\n", omittingEmptySubsequences: false)
    name =
      lines.count > 1 && !lines[1].isEmpty
      ? String(lines[1].unicodeScalars.prefix(Self.longestSortedName)) : nil
  }

  init(_ account: Account) {
    self.init(
      fields: [account.email, account.displayName, account.phoneNumber, account.id.text],
      providers: account.providers, factors: account.factors.map { ($0.id.text, $0.phoneNumber) })
  }

  package init(
    fields: [String?], providers: [ProviderLink] = [],
    factors: [(id: String, phoneNumber: String?)]
  ) {
    var lines = fields.map { Self.folded($0 ?? "") }
    var first = (fields.first ?? nil).map { [Self.folded(AccountRules.readable(email: $0))] } ?? []
    for text in providers.flatMap({ [$0.email.map(AccountRules.readable), $0.displayName] }) {
      let folded = Self.folded(text ?? "")
      let isKnown = (first + lines.prefix(2)).contains { $0.isSameBytes(as: folded) }
      if !folded.isEmpty, !isKnown { first.append(folded) }
    }
    if !lines.isEmpty { lines[0] = first.joined(separator: " ") }
    lines += factors.map { Self.folded($0.id) }
    lines += factors.compactMap { $0.phoneNumber.map(Self.folded) }
    self.init(folded: lines.joined(separator: "\n"))
  }

  private static let longestSortedName = 60
  /// The maximum number of searchable characters per field.
  static let longestField = 400

  /// Returns text on one line without differences that searches ignore.
  ///
  /// Compatibility forms become plain forms, and invisible characters, such as direction marks, are
  /// removed.
  static func folded(_ text: String) -> String {
    // Truncates first: no account field is longer, and folding long text is slow.
    let text =
      text.utf8.count <= 4 * longestField
      ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(longestField)))
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return collapsed(text.lowercased()) }
    let plain = text.decomposedStringWithCompatibilityMapping.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    return collapsed(unified(plain).precomposedStringWithCanonicalMapping)
  }

  /// Latin letters that Unicode doesn't decompose, with what people type instead.
  static let replacements: [Unicode.Scalar: String] = [
    "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe",
    "ŧ": "t",
  ]

  /// Makes the ``replacements``, removes Arabic and Hebrew vowel points, which are optional, and unifies letters that
  /// have two forms on Persian and Arabic keyboards or at the end of a word (teh marbuta and heh).
  private static func unified(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: continue
      case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E8:
        continue
      case 0x06CC, 0x0649: result.append("\u{064A}")
      case 0x06A9: result.append("\u{0643}")
      case 0x0629, 0x06C1, 0x06C3, 0x06D5: result.append("\u{0647}")
      default:
        if let typed = replacements[scalar] {
          result.append(contentsOf: typed.unicodeScalars)
        } else {
          result.append(scalar)
        }
      }
    }
    return String(result)
  }

  /// Collapses spaces, trims the ends, and removes apostrophes and invisible characters.
  ///
  /// People type `O'Brien`, `O’Brien`, and `OBrien` for the same name.
  private static func collapsed(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var blank = false
    var count = 0
    for scalar in text.unicodeScalars where count < longestField {
      if scalar.value <= 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace {
        blank = count > 0
        continue
      }
      if isApostrophe(scalar) { continue }
      if scalar.value >= 0x80, isInvisible(scalar) { continue }
      if blank {
        result.append(" ")
        count += 1
      }
      blank = false
      result.append(scalar)
      count += 1
    }
    return String(result)
  }

  private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x27, 0x60, 0xB4, 0x02B9, 0x02BB...0x02BD, 0x05F3, 0x2018, 0x2019, 0x201B, 0x2032: true
    default: false
    }
  }

  /// Whether a character isn't shown by itself, such as a direction mark.
  static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format
      || properties.generalCategory == .control
  }
}

extension SearchText {
  /// The maximum number of word beginnings stored per account.
  private static let mostBeginnings = 250

  /// The first character and the first two characters of every word and ID.
  ///
  /// In scripts without spaces between words, every character is a beginning.
  package var beginnings: Set<UntrustedText> {
    var beginnings: Set<UntrustedText> = []
    let lines = folded.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      let scalars = Array(line.unicodeScalars)
      // An ID has no words; people read out only the beginning of a UUID.
      let starts = number < 3 ? Self.starts(scalars) : scalars.isEmpty ? [] : [0]
      for start in starts {
        guard beginnings.count < Self.mostBeginnings else { return beginnings }
        beginnings.insert(UntrustedText(String(scalars[start])))
        guard start + 1 < scalars.count, scalars[start + 1] != " " else { continue }
        var two = String.UnicodeScalarView()
        two.append(scalars[start])
        two.append(scalars[start + 1])
        beginnings.insert(UntrustedText(String(two)))
      }
    }
    return beginnings
  }

  private static func starts(_ scalars: [Unicode.Scalar]) -> [Int] {
    scalars.indices.filter { index in
      let scalar = scalars[index]
      guard scalar != " " else { return false }
      guard index > 0, scalars[index - 1] != " " else { return true }
      guard scalar.isPartOfWord else { return scalar.value >= 0x80 }
      return !scalars[index - 1].isPartOfWord || scalar.standsAlone
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isPartOfWord: Bool {
    switch value {
    case 0x30...0x39, 0x61...0x7A, 0x41...0x5A: return true
    case ..<0x80: return false
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return properties.isAlphabetic || properties.numericType != nil
    }
  }

  /// True for scripts without spaces between words, such as Han, Kana, Hangul, and Thai.
  fileprivate var standsAlone: Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x3400...0x9FFF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}

/// A parsed user search, ready for both indexes.
///
/// Every word must match. A word of three or more characters can match anywhere; a shorter word
/// must match the beginning of a word.
struct SearchQuery: Sendable {
  /// Words of three or more characters: one list, or two of which one has to match; none if there
  /// are only short words.
  let long: [[String]]
  let short: [String]
  /// The original text without NUL, which no ID or address contains and PostgreSQL refuses, for
  /// exact matches of IDs and addresses.
  let typed: String
  private let words: [String]
  /// The digits of the text if it looks like a phone number.
  private let number: String?

  /// The maximum number of words used; more would only narrow the search.
  private static let mostWords = 8

  /// Parses typed or pasted text; nil if it contains nothing to search for.
  init?(_ text: String) {
    let address = Self.address(in: text.trimmed)
    typed = String(String.UnicodeScalarView(address.unicodeScalars.filter { $0 != "\0" }))
    let folded = SearchText.folded(AccountRules.readable(email: typed))
    words = Array(Self.words(of: folded).prefix(Self.mostWords))
    number = Self.phoneNumber(folded)
    guard !words.isEmpty else { return nil }
    // Longest first, because it matches the fewest accounts.
    let long = words.filter { $0.unicodeScalars.count > 2 }.sorted { $0.utf8.count > $1.utf8.count }
    let short = words.filter { $0.unicodeScalars.count <= 2 }
    guard let number else {
      self.long = long.isEmpty ? [] : [long]
      self.short = short
      return
    }
    let isWords = short.isEmpty && !long.isEmpty
    self.long = isWords ? [long, [number]] : [[number]]
    self.short = []
  }

  func match(of account: Account) -> FoundAccounts.Match? {
    let names = [account.email, account.displayName, account.id.text]
    let links = account.providers
    guard !matches(SearchText(fields: names, providers: links, factors: []).folded) else {
      return nil
    }
    let own = SearchText(
      fields: names + [account.phoneNumber], providers: links, factors: []
    ).folded
    guard !matches(own) else { return .phone }
    return account.factors.first { factor in
      let text = SearchText(fields: [factor.id.text, factor.phoneNumber], factors: []).folded
      return matches(text) || words.contains { !own.contains($0) && text.contains($0) }
    }.map { .factor($0) }
  }

  /// Returns whether an account with this text matches, as the indexes decide it.
  func matches(_ text: SearchText) -> Bool {
    let folded = text.folded.utf8
    let hasLong =
      long.isEmpty || long.contains { words in words.allSatisfy { folded.contains($0.utf8) } }
    guard hasLong, !short.isEmpty else { return hasLong }
    let beginnings = text.beginnings
    return short.allSatisfy { beginnings.contains(UntrustedText($0)) }
  }

  private func matches(_ folded: String) -> Bool {
    if let number, folded.contains(number) { return true }
    return words.allSatisfy { folded.contains($0) }
  }

  /// Returns the address in a pasted link or mail header (`mailto:…`, `tel:…`, `Name <address>`),
  /// otherwise the whole text.
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
      let address = String(decoding: rest[..<(end ?? rest.endIndex)], as: UTF8.self).trimmed
      return address.removingPercentEncoding ?? address
    }
    return text
  }

  /// Splits folded text into words without the punctuation that separates or surrounds them.
  ///
  /// A word that consists only of punctuation is kept, because a name may contain it.
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

  /// Returns the digits of text that looks like a phone number but isn't in stored form: in groups,
  /// or with a national trunk zero.
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
