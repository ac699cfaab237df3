import HTTP
import Identity
import Localization
import Templating
import Text

/// `/users`: searches the users of every project and tenant that the administrator can access.
struct FindUsersPage: Sendable {
  let accounts: Accounts
  let exemptions: Exemptions
  let frames: Frames
  let cookies: ConsoleCookies
  let view: Template<FindUsersView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let text = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let part = SearchPart(after: after.flatMap { Int($0) } ?? 0)
    var found: FoundAccounts?
    var exempt: [Int64: [ID<Account>: Instant]] = [:]
    if !text.isEmpty {
      let hits = try await refusing {
        try await accounts.search(
          everywhere: text, visibleTo: signedIn.administrator, part: part)
      }
      if signedIn.query["open"] == "1", let only = hits.only {
        return .redirect(to: ConsolePaths.user(only.scope, only.account.id.text))
      }
      let page = Page(items: hits.hits, next: hits.next.map(String.init))
      if let first = signedIn.firstPage(of: ConsolePaths.findUsers(), insteadOf: page) {
        return first
      }
      found = hits
      for pool in Set(hits.hits.map(\.scope)) {
        exempt[pool.key] = try await refusing { try await exemptions.current(in: pool) }.ends
      }
    }
    let frame = frames.frame(Message("users.search-users"), for: signedIn)
    let columns = UserColumns(signedIn.query, remembered: cookies.columns(of: signedIn.request))
    var response = Response.html(
      view.render(
        FindUsersView(
          frame: frame, signedIn: signedIn, text: text, found: found, exempt: exempt, part: part,
          after: after, columns: columns, now: frames.clock.now())))
    if columns.isChosen {
      response.fields.add(.setCookie, cookies.columns(columns.remembered).description)
    }
    return response
  }
}

struct FindUsersView: ViewModel {
  let frame: FrameView
  let filter: FilterView
  let pools: [FoundPool]
  let summary: Message?
  let pager: PagerView
  let empty: EmptyView
  let columns: ColumnsForm
  /// The form for a bulk removal across pools; nil without the permission.
  let list: ListForm?
  /// The address that selects all users that were found; nil if they are all on this page.
  let selectAll: String?
  let total: Int

  init(
    frame: Frame, signedIn: SignedIn, text: String, found: FoundAccounts?,
    exempt: [Int64: [ID<Account>: Instant]], part: SearchPart, after: String?,
    columns: UserColumns, now: Instant
  ) {
    self.frame = FrameView(frame)
    filter = FilterView(
      action: ConsolePaths.findUsers(), label: Message("users.search-fields"), query: text)
    let mayRemove = signedIn.administrator.maySomewhere(.removeFactors)
    list = mayRemove ? ListForm(signedIn) : nil
    pools =
      found.map {
        FoundPool.all(
          $0, exempt: exempt, text: text, columns: columns, isSelecting: mayRemove, at: now,
          times: frame.times)
      } ?? []
    self.columns = columns.form(
      action: ConsolePaths.findUsers(), kept: Self.query(text).at(after))
    total = found?.total.exact ?? 0
    selectAll =
      total > found?.hits.count ?? 0
      ? Self.query(text).query(of: ConsolePaths.removalGroups()) : nil
    summary = found.flatMap { FoundText.summary($0, part, with: text) }
    pager = PagerView(
      shown: Message("users.count", ["count": .number(found?.hits.count ?? 0)]),
      path: ConsolePaths.findUsers(), query: Self.query(text), after: after,
      next: found?.next.map(String.init))
    empty = EmptyView(
      heading: Message("users.none-found"),
      sentence: found?.isCut == true
        ? Message("users.none-found-yet")
        : FoundText.hasShortWord(text)
          ? Message("users.none-found-anywhere-short-word") : Message("users.none-found-anywhere"),
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
    .object(\.columns),
    .optional(\.list),
    .text("removals") { _ in ConsolePaths.removalGroups() },
    .text(\.selectAll),
    .text("selectedUsers") { view in
      view.pager.first == nil && view.pager.next == nil
        ? Message("users.remove-from-selected") : Message("users.remove-from-selected-on-page")
    },
    .text("allUsers") { Message("users.remove-from-all", ["count": .number($0.total)]) },
  ]
}

/// The users of one pool in the results of a search across pools.
struct FoundPool: ViewModel {
  let scope: Scope
  /// The number of hits in the pool; nil if not all were counted.
  let count: Int?
  let text: String
  /// The classes of the table that hide columns.
  let hidingClasses: String
  let users: [UserRow]

  /// Returns the pools of the current part of the results, in order.
  ///
  /// `exempt` is when the exemptions of their users end, by the key of the pool.
  static func all(
    _ found: FoundAccounts, exempt: [Int64: [ID<Account>: Instant]], text: String,
    columns: UserColumns, isSelecting: Bool, at now: Instant, times: Times
  ) -> [FoundPool] {
    found.pools.compactMap { pool in
      let hits = found.hits.filter { $0.scope.key == pool.scope.key }
      guard !hits.isEmpty else { return nil }
      return FoundPool(
        scope: pool.scope, count: found.total.isExact ? pool.count : nil, text: text,
        hidingClasses: columns.hidingClasses,
        users: hits.map {
          let source = UserRow.Source(
            AccountSummary($0.account), foundBy: $0.factor,
            exemptUntil: exempt[pool.scope.key]?[$0.account.id], at: now, times: times)
          return UserRow(source, in: $0.scope, isSelecting: isSelecting)
        })
    }
  }

  static let keys: Keys<Self> = [
    .text("project") { $0.scope.projectName },
    .text("tenant") { $0.scope.tenant == nil ? nil : $0.scope.name },
    .text("href") { FindUsersView.query($0.text).query(of: ConsolePaths.users($0.scope)) },
    .text("count") { $0.count.map { Message("users.count", ["count": .number($0)]) } },
    .text(\.hidingClasses),
    .list(\.users),
  ]
}
