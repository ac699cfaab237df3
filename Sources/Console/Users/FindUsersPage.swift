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

  func show(_ signedIn: SignedIn) async throws -> Response {
    let text = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let size = PageSize(signedIn.query)
    let part = SearchPart(after: after.flatMap { Int($0) } ?? 0, size: size.rows)
    var found: FoundAccounts?
    var exempt: [Int64: Instant] = [:]
    if !text.isEmpty {
      let hits = try await accounts.search(
        everywhere: text, visibleTo: signedIn.administrator, part: part)
      if signedIn.query["open"] == "1", let only = hits.only {
        return .redirect(to: ConsolePaths.user(only.pool, only.account.id.text))
      }
      let page = Page(items: hits.hits, next: hits.next.map(String.init))
      if let first = signedIn.firstPage(of: ConsolePaths.findUsers(), insteadOf: page) {
        return first
      }
      found = hits
      exempt = try await exemptions.ends(of: hits.accounts.map(\.key))
    }
    let frame = await frames.frame(Message("Search users"), for: signedIn)
    let columns = UserColumns(signedIn.query, remembered: cookies.columns(of: signedIn.request))
    var response = Response.html(
      view.render(
        FindUsersView(
          frame: frame, text: text, found: found, exempt: exempt, part: part,
          size: size, after: after, columns: columns, now: frames.clock.now())))
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

  init(
    frame: Frame, text: String, found: FoundAccounts?,
    exempt: [Int64: Instant], part: SearchPart, size: PageSize,
    after: String?, columns: UserColumns, now: Instant
  ) {
    self.frame = FrameView(frame)
    filter = FilterView(
      action: ConsolePaths.findUsers(), label: Message("Email, name, phone, or UID"), query: text,
      keeping: size.form)
    pools =
      found.map {
        FoundPool.all(
          $0, exempt: exempt, text: text, columns: columns, at: now, times: frame.times)
      } ?? []
    self.columns = columns.form(
      action: ConsolePaths.findUsers(), kept: size.added(to: Self.query(text)).at(after))
    summary = found.flatMap { FoundText.summary($0, part, with: text) }
    pager = PagerView(
      shown: Message(
        one: "{count} user", other: "{count} users", ["count": .number(found?.hits.count ?? 0)]),
      path: ConsolePaths.findUsers(), query: size.added(to: Self.query(text)), after: after,
      next: found?.next.map(String.init))
    empty = EmptyView(
      heading: Message("No users found"),
      sentence: found?.isCut == true
        ? Message(
          """
          Not all users were searched, because many match a part of the search. Type more to \
          narrow it.
          """)
        : FoundText.hasShortWord(text)
          ? Message(
            """
            No email, name, phone number, UID, or enrollment ID matches in the projects and \
            tenants you can access. One or two characters match only the beginning of a word.
            """)
          : Message(
            """
            No email, name, phone number, UID, or enrollment ID matches in the projects and \
            tenants you can access.
            """),
      link: EmptyLink(text: Message("All projects"), href: ConsolePaths.projects()))
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
  ]
}

struct FoundPool: ViewModel {
  let pool: Pool
  /// The number of hits in the pool; nil if not all were counted.
  let count: Int?
  let text: String
  /// The classes of the table that hide columns.
  let hidingClasses: String
  let users: [UserRow]

  /// Returns the pools of the current part of the results, in order.
  ///
  /// `exempt` is when the exemptions of their users end, by the users' keys.
  static func all(
    _ found: FoundAccounts, exempt: [Int64: Instant], text: String,
    columns: UserColumns, at now: Instant, times: Times
  ) -> [FoundPool] {
    found.pools.compactMap { counted in
      let hits = found.hits.filter { $0.pool.key == counted.pool.key }
      guard !hits.isEmpty else { return nil }
      return FoundPool(
        pool: counted.pool, count: found.total.isExact ? counted.count : nil, text: text,
        hidingClasses: columns.hidingClasses,
        users: hits.map {
          let source = UserRow.Source(
            AccountSummary($0.account), foundBy: $0.match,
            exemptUntil: exempt[$0.account.key], isSelecting: false, columns: columns,
            at: now, times: times)
          return UserRow(source, in: $0.pool)
        })
    }
  }

  static let keys: Keys<Self> = [
    .text("project") { $0.pool.projectName },
    .text("tenant") { $0.pool.tenant == nil ? nil : $0.pool.name },
    .text("href") { FindUsersView.query($0.text).query(of: ConsolePaths.users($0.pool)) },
    .text("count") {
      $0.count.map { Message(one: "{count} user", other: "{count} users", ["count": .number($0)]) }
    },
    .text(\.hidingClasses),
    .list(\.users),
  ]
}

enum FoundText {
  /// Whether a search has a word of one or two characters, which matches less than longer ones.
  static func hasShortWord(_ text: String) -> Bool {
    text.split(whereSeparator: \.isWhitespace).contains { $0.unicodeScalars.count < 3 }
  }

  static func summary(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> Message? {
    guard !found.hits.isEmpty else { return nil }
    let matches = matches(found, part, with: text)
    return found.total.isExact
      ? Message(
        "{found} Projects and tenants: {pools}.",
        ["found": .message(matches), "pools": .number(found.pools.count)])
      : matches
  }

  static func matches(_ found: FoundAccounts, _ part: SearchPart, with text: String) -> Message {
    let text = Message.Value.name(Formatted.short(text, 60))
    let (first, last) = (part.start + 1, part.start + found.hits.count)
    switch found.total {
    case .exactly where isAll(found, part):
      return Message(
        one: "{count} user matches “{text}”.", other: "{count} users match “{text}”.",
        ["count": .number(last), "text": text])
    case .exactly(let count):
      return Message(
        one: "{count} user matches “{text}”. Showing {first}–{last}.",
        other: "{count} users match “{text}”. Showing {first}–{last}.",
        ["count": .number(count), "text": text, "first": .number(first), "last": .number(last)])
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
