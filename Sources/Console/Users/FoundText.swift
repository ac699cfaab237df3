import Identity
import Localization

enum FoundText {
  /// Whether a search has a word of one or two characters, which matches less than longer ones.
  static func hasShortWord(_ text: String) -> Bool {
    text.split(whereSeparator: \.isWhitespace).contains { $0.unicodeScalars.count < 3 }
  }

  static func summary(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> Message? {
    guard !found.hits.isEmpty else { return nil }
    let matches = matches(found, part, with: text)
    return found.total.isExact
      ? Message(
        "{found} Projects and tenants: {pools}.",
        ["found": .message(matches), "pools": .number(found.pools.count)])
      : matches
  }

  static func matches(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> Message {
    let text = Message.Value.name(Formatted.short(text, 60))
    let (first, last) = (part.start + 1, part.start + found.hits.count)
    switch found.total {
    case .exactly where isAll(found, part):
      return Message(
        one: "{count} user matches “{text}”.", other: "{count} users match “{text}”.",
        ["count": .number(last), "text": text])
    case .exactly(let count):
      return Message(
        one: "{count} user matches “{text}”. Showing {first}–{last}.",
        other: "{count} users match “{text}”. Showing {first}–{last}.",
        ["count": .number(count), "text": text, "first": .number(first), "last": .number(last)])
    case .atLeast(let count):
      return Message(
        one: """
          More than {count} user matches “{text}”. Showing {first}–{last}. Type more to narrow \
          the search.
          """,
        other: """
          More than {count} users match “{text}”. Showing {first}–{last}. Type more to narrow the \
          search.
          """,
        [
          "count": .number(count), "text": text, "first": .number(first), "last": .number(last),
        ])
    }
  }

  /// Whether the part is all that was found; the total is then exact.
  private static func isAll(_ found: FoundAccounts, _ part: SearchPart) -> Bool {
    part.start == 0 && found.next == nil && !found.isCut
  }
}

extension FoundAccounts.Total {
  var isExact: Bool { exact != nil }

  /// The number; nil for a lower bound.
  var exact: Int? {
    switch self {
    case .exactly(let count): count
    case .atLeast: nil
    }
  }
}
