public struct AccountListing: Sendable {
  public var text: String
  public var filter: Accounts.Filter
  public var sort: Accounts.Sort

  public init(
    text: String = "", filter: Accounts.Filter = .all, sort: Accounts.Sort = .newest
  ) {
    self.text = text
    self.filter = filter
    self.sort = sort
  }
}

extension Accounts {
  public static let listedAtOnce = 500

  /// Reads all accounts that a list shows on its pages, in order, a part at a time.
  ///
  /// A list with a search text has at most ``mostHits`` accounts.
  ///
  /// - Returns: True if more accounts match.
  public func forEachPart(
    of listing: AccountListing, in pool: Pool, atMost most: Int,
    _ body: ([AccountSummary]) async throws -> Void
  ) async throws -> Bool {
    guard listing.text.isEmpty else {
      let found = try await search(
        pool, listing.text, filter: listing.filter, sort: listing.sort, part: .whole)
      try await body(found.accounts.prefix(most).map(AccountSummary.init))
      return found.isCut || found.hits.count > most
    }
    var after: String?
    var rest = most
    repeat {
      let page = try await list(
        pool, filter: listing.filter, sort: listing.sort, after: after,
        limit: min(Self.listedAtOnce, rest))
      try await body(page.items)
      rest -= page.items.count
      after = page.next
      // Lets other tasks of this thread run.
      await Task.yield()
    } while after != nil && rest > 0
    return after != nil
  }
}
