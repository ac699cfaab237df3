import Identity

/// What stands above the users that a search has found.
enum FoundWords {
  /// The caption of the list: which part it is, and what to do when it is not all.
  ///
  /// - Parameters:
  ///   - found: The part that is shown.
  ///   - part: Which it is.
  ///   - who: Who was looked for, in words.
  ///   - text: What was typed.
  ///   - order: How the list goes.
  /// - Returns: A sentence or two.
  static func caption(
    _ found: FoundAccounts, _ part: SearchPart, of who: String, with text: String, order: String
  ) -> String {
    let typed = "\(who) with “\(Words.isolated(Words.short(text, 60)))”"
    if found.isCut {
      let count = part.start + found.hits.count
      return
        "These are the last of \(count) \(typed) that a search shows, and there are more. Type more to narrow it."
    }
    guard part.start > 0 || found.next != nil else {
      return Words.sentence("\(typed), \(order).")
    }
    let last = part.start + found.hits.count
    return "\(part.start + 1) to \(last) of the \(typed), \(order)."
      + (found.next == nil ? "" : " Type more to narrow it.")
  }
}
