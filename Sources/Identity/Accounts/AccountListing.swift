/// What a list of a user pool's accounts shows.
public struct AccountListing: Sendable {
  /// The search text; empty for a list without a search.
  public var text: String
  /// The accounts to include.
  public var filter: Accounts.Filter
  /// The order.
  public var sort: Accounts.Sort

  /// Creates a description of a list.
  public init(
    text: String = "", filter: Accounts.Filter = .all, sort: Accounts.Sort = .newest
  ) {
    self.text = text
    self.filter = filter
    self.sort = sort
  }
}

extension Accounts {
  /// The number of accounts of a list that are read at a time.
  public static let listedAtOnce = 500

  /// Reads all accounts that a list shows on its pages, in order, a part at a time.
  ///
  /// - Parameters:
  ///   - listing: The list; one with a search text has at most ``mostHits`` accounts.
  ///   - scope: The user pool.
  ///   - most: The maximum number of accounts.
  ///   - body: Called for each part, of at most ``listedAtOnce`` accounts.
  /// - Returns: True if more accounts match.
  /// - Throws: ``AccountError/unavailable(_:)``, and what `body` throws.
  public func forEachPart(
    of listing: AccountListing, in scope: Scope, atMost most: Int,
    _ body: ([AccountSummary]) async throws -> Void
  ) async throws -> Bool {
    guard listing.text.isEmpty else {
      let found = try await search(
        scope, listing.text, filter: listing.filter, sort: listing.sort, part: .whole)
      try await body(found.accounts.prefix(most).map(AccountSummary.init))
      return found.isCut || found.hits.count > most
    }
    var after: String?
    var rest = most
    repeat {
      let page = try await list(
        scope, filter: listing.filter, sort: listing.sort, after: after,
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
