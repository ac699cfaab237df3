import HTTP
import Identity
import Localization
import Templating
import Text

/// `/users`: searches the users of every project and tenant that the administrator can access.
struct FindUsersPage: Sendable {
  let accounts: Accounts
  let frames: Frames
  let view: Template<FindUsersView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let text = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let part = SearchPart(after: after.flatMap { Int($0) } ?? 0)
    var found: FoundAccounts?
    if !text.isEmpty {
      let hits = try await refusing {
        try await accounts.search(
          everywhere: text, visibleTo: signedIn.administrator, part: part)
      }
      if signedIn.query["open"] == "1", let only = hits.only {
        return .redirect(to: ConsolePaths.user(only.scope, only.account.id.text))
      }
      if hits.hits.isEmpty, after != nil {
        return .redirect(to: FindUsersView.query(text).query(of: ConsolePaths.findUsers()))
      }
      found = hits
    }
    let frame = frames.frame(Message("users.search-users"), for: signedIn)
    let now = frames.clock.now()
    return .html(
      view.render(
        FindUsersView(
          frame: frame, text: text, found: found, part: part, after: after, now: now)))
  }
}

struct FindUsersView: ViewModel {
  let frame: FrameView
  let filter: FilterView
  let pools: [FoundPool]
  let summary: Message?
  let pager: PagerView
  let empty: EmptyView

  init(
    frame: Frame, text: String, found: FoundAccounts?, part: SearchPart, after: String?,
    now: Instant
  ) {
    self.frame = FrameView(frame)
    filter = FilterView(
      action: ConsolePaths.findUsers(), label: Message("users.search-fields"), query: text)
    pools = found.map { FoundPool.all($0, text: text, at: now, times: frame.times) } ?? []
    summary = found.flatMap { FoundWords.summary($0, part, with: text) }
    pager = PagerView(
      shown: Message("users.count", ["count": .number(found?.hits.count ?? 0)]),
      path: ConsolePaths.findUsers(), query: Self.query(text), after: after,
      next: found?.next.map(String.init))
    empty = EmptyView(
      heading: Message("users.none-found"), sentence: Message("users.none-found-anywhere"),
      link: EmptyLink(text: Message("users.all-projects"), href: ConsolePaths.projects()))
  }

  static func query(_ text: String) -> Form { ["q": text] }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.filter),
    .list(\.pools),
    .flag("hasPools") { !$0.pools.isEmpty },
    .text(\.summary),
    .flag("hasTyped") { !$0.filter.query.isEmpty },
    .object(\.pager),
    .object(\.empty),
  ]
}

/// The users of one pool in the results of a search across pools.
struct FoundPool: ViewModel {
  let scope: Scope
  /// The number of hits in the pool; nil if not all were counted.
  let count: Int?
  let text: String
  let users: [UserRow]

  /// Returns the pools of the current part of the results, in order.
  static func all(
    _ found: FoundAccounts, text: String, at now: Instant, times: Times
  ) -> [FoundPool] {
    found.pools.compactMap { pool in
      let hits = found.hits.filter { $0.scope.key == pool.scope.key }
      guard !hits.isEmpty else { return nil }
      return FoundPool(
        scope: pool.scope, count: found.total.isExact ? pool.count : nil, text: text,
        users: hits.map {
          let source = UserRow.Source(
            AccountSummary($0.account), foundBy: $0.factor, at: now, times: times)
          return UserRow(source, in: $0.scope)
        })
    }
  }

  static let keys: Keys<Self> = [
    .text("project") { $0.scope.projectName },
    .text("tenant") { $0.scope.tenant == nil ? nil : $0.scope.name },
    .text("href") { FindUsersView.query($0.text).query(of: ConsolePaths.users($0.scope)) },
    .text("count") { $0.count.map { Message("users.count", ["count": .number($0)]) } },
    .list(\.users),
  ]
}
