import Foundation
import Text

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
