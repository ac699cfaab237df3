import HTTP
import Identity
import Localization
import Templating

/// `S/users`: the users of a pool, with search, filters, and sorting.
struct UsersPage: Sendable {
  let accounts: Accounts
  let exemptions: Exemptions
  let frames: Frames
  let cookies: ConsoleCookies
  let view: Template<UsersView>
  let row: Template<UserRow>
  let rows = MarkupCache<UserRow.Source>()

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let query = UsersQuery(context.signedIn.query)
    var found: FoundAccounts?
    var page = Page<AccountSummary>(items: [], next: nil)
    if query.text.isEmpty {
      page = try await accounts.list(
        pool, filter: query.filter, sort: query.sort, after: query.after, limit: query.size.rows)
    } else {
      let hits = try await accounts.search(
        pool, query.text, filter: query.filter, sort: query.sort, part: query.part)
      page = Page(items: hits.accounts.map(AccountSummary.init), next: hits.next.map(String.init))
      found = hits
    }
    if let first = context.signedIn.firstPage(of: ConsolePaths.users(pool), insteadOf: page) {
      return first
    }
    let (counts, suspended) = try await accounts.countsWithSuspended(pool)
    let exempt = try await exemptions.counts(in: pool)
    let ends =
      exempt.all > 0
      ? try await exemptions.ends(of: page.items.map(\.key)) : [:]
    let frame = try await frames.frame(Message("Users"), in: context, users: counts.users)
    let now = frames.clock.now()
    // Users without second factors have none to remove.
    let isSelecting = context.may(.removeFactors) && query.filter != .none
    let columns = UserColumns(
      context.signedIn.query, remembered: cookies.columns(of: context.signedIn.request))
    let sources =
      found?.hits.map {
        UserRow.Source(
          AccountSummary($0.account), foundBy: $0.match, exemptUntil: ends[$0.account.key],
          isSelecting: isSelecting, columns: columns, at: now, times: frame.times)
      }
      ?? page.items.map {
        UserRow.Source(
          $0, exemptUntil: ends[$0.key], isSelecting: isSelecting, columns: columns, at: now,
          times: frame.times)
      }
    let rows = rows.joined(sources) { row.render(UserRow($0, in: pool)) }
    var response = Response.html(
      view.render(
        UsersView(
          frame: frame, context: context, page: page, rows: rows, found: found, query: query,
          columns: columns, counts: counts, suspended: suspended, exempt: exempt,
          isSelecting: isSelecting)))
    if columns.isChosen {
      response.fields.add(.setCookie, cookies.columns(columns.remembered).description)
    }
    return response
  }
}
