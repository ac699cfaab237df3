import HTTP
import Identity
import Localization
import Templating
import Text

/// `/users`: searches the users, projects, and tenants that the administrator can access.
///
/// Without a search, it's where agents begin: with the users of their recent work.
struct FindUsersPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<FindUsersView>

  /// The maximum number of projects and tenants on the page.
  static let places = 6

  func show(_ signedIn: SignedIn) async throws -> Response {
    let administrator = signedIn.administrator
    let text = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let size = PageSize(signedIn.query)
    let part = SearchPart(after: after.flatMap { Int($0) } ?? 0, size: size.rows)
    var found: FoundAccounts?
    var places: [FoundPlace] = []
    var exempt: [Int64: Instant] = [:]
    if !text.isEmpty {
      let hits = try await identity.accounts.search(
        everywhere: text, visibleTo: administrator, part: part)
      if part.start == 0 {
        places = try await identity.pools.find(
          text, visibleTo: administrator, limit: Self.places + 1)
      }
      if signedIn.query["open"] == "1", let only = Self.only(hits, places) {
        return .redirect(to: only)
      }
      let page = Page(items: hits.hits, next: hits.next.map(String.init))
      if let first = signedIn.firstPage(of: ConsolePaths.findUsers(), insteadOf: page) {
        return first
      }
      found = hits
      try await identity.accounts.recordShown(
        DownloadedUsers(in: hits.hits.map(\.pool)), by: signedIn.author)
      exempt = try await identity.exemptions.ends(of: hits.accounts.map(\.key))
    }
    let (title, frame) = try await frame(for: signedIn)
    let now = identity.clock.now()
    let cookies = authorizer.cookies
    let columns = UserColumns(signedIn.query, remembered: cookies.columns(of: signedIn.request))
    let work =
      try await text.isEmpty && administrator.maySomewhere(.removeFactors)
      ? identity.work(of: administrator, limit: AgentWorkView.most + 1) : nil
    var response = Response.html(
      view.render(
        FindUsersView(
          frame: frame, title: title, text: text, found: found, places: places,
          work: work.map { AgentWorkView($0, signedIn.times, at: now) },
          findsUsers: administrator.maySomewhere(.findUsers), exempt: exempt, part: part,
          size: size, after: after, columns: columns, now: now)))
    if columns.isChosen { response.set(cookies.columns(columns.remembered)) }
    return response
  }

  /// The address of the only hit; nil if there are others or none.
  private static func only(_ hits: FoundAccounts, _ places: [FoundPlace]) -> String? {
    if let user = hits.only, places.isEmpty {
      return ConsolePaths.user(user.pool, user.account.id.text)
    }
    guard hits.total == .exactly(0), places.count == 1 else { return nil }
    return places.first.map { FoundPlaceRow(place: $0).href }
  }

  /// The frame of the tenant for administrators of only one, whose every user is found there.
  private func frame(for signedIn: SignedIn) async throws -> (title: Message, Frame) {
    let grants = signedIn.administrator.grants
    guard let first = grants.first, let project = first.project, let tenant = first.tenant,
      grants.allSatisfy({ $0.project == project && $0.tenant == tenant }),
      let context = try? await authorizer.pool(
        signedIn, project.text, tenant.text, needing: .seePool)
    else {
      let title = Message("Search")
      return (title, try await frames.frame(ofAll: title, for: signedIn))
    }
    let title = Message("Find users")
    return (title, try await frames.frame(title, in: context))
  }
}

struct FindUsersView: ViewModel {
  let frame: FrameView
  let title: Message
  let filter: FilterView
  let places: [FoundPlace]
  let work: AgentWorkView?
  let pools: [FoundPool]
  /// The classes of the table that hide columns.
  let hidingClasses: String
  let summary: Message?
  let pager: PagerView
  let empty: EmptyView
  let columns: ColumnsForm

  init(
    frame: Frame, title: Message, text: String, found: FoundAccounts?, places: [FoundPlace],
    work: AgentWorkView?, findsUsers: Bool, exempt: [Int64: Instant], part: SearchPart,
    size: PageSize, after: String?, columns: UserColumns, now: Instant
  ) {
    self.frame = FrameView(frame)
    self.title = title
    self.places = places
    self.work = work
    filter = FilterView(
      action: ConsolePaths.findUsers(),
      label: findsUsers
        ? Message("Email, name, phone, UID, project, or tenant") : Message("Project or tenant"),
      query: text,
      keeping: size.form)
    pools =
      found.map {
        FoundPool.all(
          $0, exempt: exempt, text: text, columns: columns, at: now, times: frame.times)
      } ?? []
    hidingClasses = columns.hidingClasses
    self.columns = columns.form(
      action: ConsolePaths.findUsers(), kept: size.added(to: Self.query(text)).at(after))
    summary = found.flatMap { FoundText.summary($0, part, with: text) }
    pager = PagerView(
      shown: Message(
        one: "{count} user", other: "{count} users", ["count": .number(found?.hits.count ?? 0)]),
      path: ConsolePaths.findUsers(), query: size.added(to: Self.query(text)), after: after,
      next: found?.next.map(String.init))
    empty = EmptyView(
      heading: Message("No results"),
      sentence: Self.none(text, isCut: found?.isCut == true, findsUsers: findsUsers),
      link: Link(text: Message("All projects"), href: ConsolePaths.projects()))
  }

  private static func none(_ text: String, isCut: Bool, findsUsers: Bool) -> Message {
    guard findsUsers else {
      return Message("No project or tenant you can access has a matching name or ID.")
    }
    if isCut {
      return Message(
        """
        Not all users were searched, because many match a part of the search. Type more to narrow \
        it.
        """)
    }
    return FoundText.hasShortWord(text)
      ? Message(
        """
        No user, project, or tenant matches among those you can access. One or two characters \
        match only the beginning of a word of an email, name, phone number, UID, or enrollment ID.
        """)
      : Message(
        """
        No email, name, phone number, UID, or enrollment ID matches in the projects and tenants \
        you can access, and none of their names or IDs.
        """)
  }

  static func query(_ text: String) -> Form { ["q": text] }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.title),
    .object(\.filter),
    .flag("hasPlaces") { !$0.places.isEmpty },
    .list("places") { $0.places.prefix(FindUsersPage.places).map(FoundPlaceRow.init) },
    .flag("hasMorePlaces") { $0.places.count > FindUsersPage.places },
    .optional(\.work),
    .list(\.pools),
    .text(\.hidingClasses),
    .flag("hasPools") { !$0.pools.isEmpty },
    .text(\.summary),
    .flag("isEmpty") {
      !$0.filter.query.isEmpty && $0.pools.isEmpty && $0.places.isEmpty
    },
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
        users: hits.map {
          let source = UserRow.Source(
            AccountSummary($0.account), foundBy: $0.match,
            exemptUntil: exempt[$0.account.key], columns: columns, at: now, times: times)
          return UserRow(source, in: $0.pool)
        })
    }
  }

  static let keys: Keys<Self> = [
    .text("project") { $0.pool.projectName },
    .text("tenant") { $0.pool.tenant == nil ? nil : $0.pool.name },
    .markup("kind") { $0.pool.kind.chip },
    .text("href") { FindUsersView.query($0.text).query(of: ConsolePaths.users($0.pool)) },
    .text("count") {
      $0.count.map { Message(one: "{count} user", other: "{count} users", ["count": .number($0)]) }
    },
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
    case .exactly where part.start == 0 && found.next == nil && !found.isCut:
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

/// The lists of an agent's start page.
struct AgentWorkView: ViewModel {
  let lists: [AgentList]

  /// The maximum number of items of a list.
  static let most = 6

  init(_ work: AgentWork, _ times: Times, at now: Instant) {
    func row(_ user: AgentWork.User, _ detail: Message?, _ at: Instant? = nil) -> AgentRow {
      AgentRow(
        name: user.account.label, href: ConsolePaths.user(user.pool, user.account.id.text),
        place: ApprovalText.place(user.pool), detail: detail, at: at.map(times.past))
    }
    func until(_ end: Instant) -> Message { Message("until {end}", ["end": times.value(end)]) }
    lists = [
      AgentList(
        heading: Message("Last users"),
        rows: work.lastUsers.prefix(Self.most).map {
          row($0, $0.last.map(AuditText.action), $0.last?.at)
        }),
      AgentList(
        heading: Message("Locked now"),
        rows: work.locked.map { user in
          guard case .blocked(let end) = user.account.codeLock(at: now) else {
            return row(user, Message("until unlocked"))
          }
          return row(user, until(end))
        }),
      AgentList(
        heading: Message("Suspended"),
        rows: work.suspended.map { row($0, $0.account.suspendedUntil.map(until)) }),
      AgentList(
        heading: Message("Your removals that can still be restored"),
        rows: work.removals.map { row($0.user, until($0.until)) }),
      AgentList(
        heading: Message("Your requests"),
        rows: work.requests.map { request in
          AgentRow(
            name: request.account == nil ? nil : Formatted.short(request.accountName, 60),
            href: request.address, place: ApprovalText.place(request.pool),
            detail: ApprovalText.what(request), at: times.past(request.requestedAt))
        }),
    ]
  }

  static let keys: Keys<Self> = [.list(\.lists)]
}

struct AgentList: ViewModel {
  let heading: Message
  let rows: [AgentRow]

  static let keys: Keys<Self> = [
    .text(\.heading),
    .flag("isEmpty") { $0.rows.isEmpty },
    .list("rows") { Array($0.rows.prefix(AgentWorkView.most)) },
    .flag("hasMore") { $0.rows.count > AgentWorkView.most },
  ]
}

struct AgentRow: ViewModel {
  /// The user; nil for a request about several.
  let name: String?
  let href: String
  let place: String
  let detail: Message?
  let at: Markup?

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.href),
    .text(\.place),
    .text(\.detail),
    .markup(\.at),
  ]
}

/// A project or tenant that a search found.
struct FoundPlaceRow: ViewModel {
  let place: FoundPlace

  var href: String { ConsolePaths.overview(place.project, place.tenant) }

  static let keys: Keys<Self> = [
    .text("name") { $0.place.name },
    .markup("kind") { $0.place.kind.chip },
    .text("project") { $0.place.tenant == nil ? nil : $0.place.projectName },
    .text("href") { $0.href },
  ]
}
