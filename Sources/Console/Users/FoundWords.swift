import Identity

/// Captions for search results.
enum FoundWords {
  /// Returns how many users match in how many pools, and which of them are shown.
  ///
  /// - Parameters:
  ///   - found: The results.
  ///   - part: The current part of the results.
  ///   - text: The search text.
  /// - Returns: A sentence; nil if no users were found.
  static func summary(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> String? {
    guard let shown = found.hits.isEmpty ? nil : found.hits.count else { return nil }
    let matches =
      switch found.total {
      case .exactly(let count):
        Words.count(count, "user matches", "users match")
          + " “\(Words.isolated(Words.short(text, 60)))” in "
          + Words.count(found.pools.count, "project or tenant", "projects and tenants")
      case .atLeast:
        Words.sentence(found.total.words)
          + " users match “\(Words.isolated(Words.short(text, 60)))”"
      }
    let isAll = part.start == 0 && found.next == nil && !found.isCut
    let narrow = found.total.isExact ? "" : " Type more to narrow the search."
    return isAll
      ? matches + "." : "\(matches). Showing \(part.start + 1)–\(part.start + shown).\(narrow)"
  }

  /// Returns which part of the results is shown, the total, and the order.
  ///
  /// - Parameters:
  ///   - found: The results.
  ///   - part: The current part of the results.
  ///   - who: The filtered users, such as “locked users”.
  ///   - text: The search text.
  ///   - order: The order of the list.
  /// - Returns: A sentence or two.
  static func caption(
    _ found: FoundAccounts, _ part: SearchPart, of who: String, with text: String, order: String
  ) -> String {
    let typed = "\(who) matching “\(Words.isolated(Words.short(text, 60)))”"
    let last = part.start + found.hits.count
    let narrow = found.total.isExact ? "" : " Type more to narrow the search."
    guard part.start > 0 || found.next != nil || found.isCut else {
      return Words.sentence("\(Words.number(last)) \(typed), \(order).")
    }
    return
      "\(part.start + 1)–\(last) of \(found.total.words) \(typed), \(order).\(narrow)"
  }
}

extension FoundAccounts.Total {
  /// The formatted number: `12`, `more than 200`.
  var words: String {
    switch self {
    case .exactly(let count): Words.number(count)
    case .atLeast(let count): "more than \(Words.number(count))"
    }
  }

  var isExact: Bool {
    switch self {
    case .exactly: true
    case .atLeast: false
    }
  }
}
