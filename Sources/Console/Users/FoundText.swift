import Identity
import Localization

enum FoundText {
  /// Whether a search has a word of one or two characters, which matches less than longer ones.
  static func hasShortWord(_ text: String) -> Bool {
    text.split(whereSeparator: \.isWhitespace).contains { $0.unicodeScalars.count < 3 }
  }

  static func summary(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> Message? {
    guard let shown = found.hits.isEmpty ? nil : found.hits.count else { return nil }
    let text = Message.Value.name(Formatted.short(text, 60))
    let (first, last) = (part.start + 1, part.start + shown)
    switch found.total {
    case .exactly(let count):
      let pools = Message("users.count-of-pools", ["count": .number(found.pools.count)])
      return isAll(found, part)
        ? Message(
          "users.matches",
          ["count": .number(count), "text": text, "pools": .message(pools)])
        : Message(
          "users.matches-shown",
          [
            "count": .number(count), "text": text, "pools": .message(pools),
            "first": .number(first), "last": .number(last),
          ])
    case .atLeast(let count):
      return Message(
        "users.many-matches-shown",
        [
          "count": .number(count), "text": text, "first": .number(first), "last": .number(last),
        ])
    }
  }

  static func caption(
    _ found: FoundAccounts, _ part: SearchPart, of filter: Accounts.Filter, with text: String,
    by sort: Accounts.Sort
  ) -> Message {
    let text = Message.Value.name(Formatted.short(text, 60))
    let order = Message.Value.message(sort.phrase)
    let (first, last) = (part.start + 1, part.start + found.hits.count)
    if isAll(found, part) {
      return Message(
        "users.caption-found",
        ["users": .message(filter.phrase(of: last)), "text": text, "order": order])
    }
    switch found.total {
    case .exactly(let count):
      return Message(
        "users.caption-found-part",
        [
          "first": .number(first), "last": .number(last),
          "users": .message(filter.phrase(of: count)), "text": text, "order": order,
        ])
    case .atLeast(let count):
      return Message(
        "users.caption-found-many",
        [
          "first": .number(first), "last": .number(last),
          "users": .message(filter.phrase(of: count)), "text": text, "order": order,
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
