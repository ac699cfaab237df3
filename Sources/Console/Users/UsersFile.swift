import HTTP
import Identity

/// `S/users.csv`: the list of users as a file, with the filters and the columns of the page.
struct UsersFile: Sendable {
  let accounts: Accounts
  let clock: WallClock

  /// The most rows of a file.
  static let longest = 100_000
  private static let columns = [
    "User", "Name", "uid", "Second factor", "State", "Last sign-in", "Created",
  ]
  /// How many accounts are read at a time.
  private static let batch = 500

  func download(_ context: ScopeContext) async throws(Refusal) -> Response {
    guard context.may(.findUsers) else { throw .notAllowed(.findUsers) }
    let query = UsersQuery(context.signedIn.query)
    var file = CSV(Self.columns)
    var count = 0
    if query.text.isEmpty {
      count = try await list(context.scope, query, into: &file)
    } else {
      let found = try await refusing {
        try await accounts.search(
          context.scope, query.text, filter: query.filter, sort: query.sort, part: .whole)
      }
      for account in found.accounts { file.add(cells(AccountSummary(account))) }
      count = found.hits.count
      if found.isCut { Self.end(&file, after: count) }
    }
    // Who takes users in bulk stands in the log, as who takes the log does.
    let rows = count
    try await refusing {
      try await accounts.recordDownload(
        of: context.scope, count: rows, words: query.words, by: context.signedIn.author)
    }
    return file.response(named: "users")
  }

  private func list(
    _ scope: Scope, _ query: UsersQuery, into file: inout CSV
  ) async throws(Refusal) -> Int {
    var (after, count): (String?, Int) = (nil, 0)
    repeat {
      let place = after
      let page = try await refusing {
        try await accounts.list(
          scope, filter: query.filter, sort: query.sort, after: place,
          limit: min(Self.batch, Self.longest - count))
      }
      for account in page.items { file.add(cells(account)) }
      count += page.items.count
      after = page.next
      // Others who wait for this thread go in between.
      await Task.yield()
    } while after != nil && count < Self.longest
    if after != nil { Self.end(&file, after: count) }
    return count
  }

  /// Says that the file is not all, where a reader of the file cannot miss it.
  private static func end(_ file: inout CSV, after count: Int) {
    file.add(
      ["Only \(count) users are here, and there are more. Search or filter on the page for fewer."]
        + Array(repeating: "", count: columns.count - 1))
  }

  private func cells(_ account: AccountSummary) -> [String] {
    [
      account.label, account.displayName ?? "", account.id.text,
      FactorWords.kinds(account), AccountChips.stateWords(account, at: clock.now()),
      account.lastLoginAt?.rfc3339Milliseconds ?? "never", account.createdAt.rfc3339Milliseconds,
    ]
  }
}
