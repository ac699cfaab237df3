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
      let pools = Message(
        one: "{count} project or tenant", other: "{count} projects and tenants",
        ["count": .number(found.pools.count)])
      return isAll(found, part)
        ? Message(
          one: "{count} user matches “{text}” in {pools}.",
          other: "{count} users match “{text}” in {pools}.",
          ["count": .number(count), "text": text, "pools": .message(pools)])
        : Message(
          one: "{count} user matches “{text}” in {pools}. Showing {first}–{last}.",
          other: "{count} users match “{text}” in {pools}. Showing {first}–{last}.",
          [
            "count": .number(count), "text": text, "pools": .message(pools),
            "first": .number(first), "last": .number(last),
          ])
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

  static func caption(
    _ found: FoundAccounts, _ part: SearchPart, of filter: Accounts.Filter, with text: String,
    by sort: Accounts.Sort
  ) -> Message {
    let text = Message.Value.name(Formatted.short(text, 60))
    let order = Message.Value.message(sort.phrase)
    let (first, last) = (part.start + 1, part.start + found.hits.count)
    if isAll(found, part) {
      return Message(
        "{users} matching “{text}”, {order}.",
        ["users": .message(filter.phrase(of: last)), "text": text, "order": order])
    }
    switch found.total {
    case .exactly(let count):
      return Message(
        "{first}–{last} of {users} matching “{text}”, {order}.",
        [
          "first": .number(first), "last": .number(last),
          "users": .message(filter.phrase(of: count)), "text": text, "order": order,
        ])
    case .atLeast(let count):
      return Message(
        """
        {first}–{last} of more than {users} matching “{text}”, {order}. Type more to narrow the \
        search.
        """,
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
