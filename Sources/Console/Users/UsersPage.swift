import HTTP
import Identity
import Localization
import Templating

/// `S/users`: the users of a pool, with search, filters, and sorting.
struct UsersPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<UsersView>
  let row: Template<UserRow>
  let rows = MarkupCache<UserRow.Source>()

  private var accounts: Accounts { identity.accounts }
  private var exemptions: Exemptions { identity.exemptions }
  private var cookies: ConsoleCookies { parts.authorizer.cookies }

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
    try await frames.record(page.items.count, shownIn: context)
    let (counts, marked) = try await accounts.countsWithMarked(pool)
    let inactive =
      query.filter == .inactive
      ? try await accounts.countInactive(pool, atMost: BulkList.longest) : nil
    let exempt = try await exemptions.counts(in: pool)
    let ends =
      exempt.all > 0
      ? try await exemptions.ends(of: page.items.map(\.key)) : [:]
    let frame = try await frames.frame(Message("Users"), in: context, users: counts.users)
    let now = frames.clock.now()
    let total: Int? =
      found.map(\.total.exact) ?? query.filter.number(counts, marked, exempt) ?? inactive
    let selection = UserSelection(
      query, in: context, total: total, isOnePage: query.after == nil && page.next == nil)
    let box = selection.map { _ in SelectionBox(query.selected) }
    let columns = UserColumns(
      context.signedIn.query, remembered: cookies.columns(of: context.signedIn.request))
    let sources =
      found?.hits.map {
        UserRow.Source(
          AccountSummary($0.account), foundBy: $0.match, exemptUntil: ends[$0.account.key],
          box: box, columns: columns, at: now, times: frame.times)
      }
      ?? page.items.map {
        UserRow.Source(
          $0, exemptUntil: ends[$0.key], box: box, columns: columns, at: now, times: frame.times)
      }
    let rows = rows.joined(sources) { row.render(UserRow($0, in: pool)) }
    var response = Response.html(
      view.render(
        UsersView(
          frame: frame, context: context, page: page, rows: rows, found: found, query: query,
          columns: columns, counts: counts, marked: marked, inactive: inactive, exempt: exempt,
          selection: selection)))
    if columns.isChosen { response.set(cookies.columns(columns.remembered)) }
    return response
  }
}

struct UsersView: ViewModel {
  let frame: FrameView
  let pool: Pool
  /// The table's rows, each a `UserRow`.
  let rows: Markup
  let filter: FilterView
  let tabs: [Link]
  /// The links that sort the list, of those that can be sorted.
  let sorts: [Accounts.Sort: Link]
  let columns: ColumnsForm
  let hidingClasses: String
  let caption: Message
  let pager: PagerView
  let empty: EmptyView
  let newUser: String?
  /// The address of the page that erases a deleted user; nil without the permission.
  let deletedUser: String?
  /// The address of the CSV file; nil without the permission.
  let file: String?
  /// The form for a pasted list; nil without the permission.
  let list: ListForm?
  let selection: UserSelection?
  let removals: String

  init(
    frame: Frame, context: PoolContext, page: Page<AccountSummary>, rows: Markup,
    found: FoundAccounts?, query: UsersQuery, columns: UserColumns, counts: AccountCounts,
    marked: MarkedCounts, inactive: Int?, exempt: ExemptionCounts, selection: UserSelection?
  ) {
    self.selection = selection
    self.frame = FrameView(frame)
    pool = context.pool
    self.rows = rows
    let list = ConsolePaths.users(pool)
    filter = FilterView(
      action: list, label: Message("Email, name, phone, or UID"), query: query.text,
      keeping: query.kept)
    tabs = Accounts.Filter.allCases.compactMap { each in
      let isCurrent = each == query.filter
      let number = each.number(counts, marked, exempt) ?? (isCurrent ? inactive : nil)
      // What few users have is a tab only while there are any.
      guard isCurrent || number != 0 || ![.exempt, .clockOff, .reported].contains(each) else {
        return nil
      }
      let text = number.map {
        Message(
          "{filter} ({number})", ["filter": .message(each.name), "number": .number($0)])
      }
      return Link(
        text: text ?? each.name, href: query.with(each).query(of: list), isCurrent: isCurrent)
    }
    let orders = query.filter.order.map { [$0] } ?? Accounts.Sort.allCases
    sorts = Dictionary(
      uniqueKeysWithValues: orders.map { each in
        let href = query.with(each).query(of: list)
        return (each, Link(text: each.heading, href: href, isCurrent: each == query.sort))
      })
    self.columns = columns.form(action: list, kept: query.form.at(query.after))
    hidingClasses = columns.hidingClasses
    caption = Message(
      "{found} Filter: {filter}. Sort by: {order}.",
      [
        "found": .message(
          found.map { FoundText.matches($0, query.part, with: query.text) } ?? Message("Users.")),
        "filter": .message(query.filter.name), "order": .message(query.sort.words),
      ])
    pager = PagerView(
      shown: Message(
        one: "{count} user", other: "{count} users", ["count": .number(page.items.count)]),
      path: list,
      query: query.form, after: query.after, next: page.next)
    let creates = context.may(action: .createUser)
    empty = Self.empty(query, found, counts, next: page.next, list: list, may: creates, pool)
    self.list = context.may(action: .startBulkRemoval) ? ListForm(context) : nil
    removals = ConsolePaths.removals(pool)
    newUser = creates ? ConsolePaths.newUser(pool) : nil
    deletedUser =
      context.may(.changeUsers) ? EraseDeletedUser.path(context.pool) : nil
    file = context.may(.exportUsers) ? query.form.query(of: ConsolePaths.usersFile(pool)) : nil
  }

  /// The links that sort by a column; the current order is without one.
  private func links(_ orders: Accounts.Sort...) -> [Link] { orders.compactMap { sorts[$0] } }

  private static func empty(
    _ query: UsersQuery, _ found: FoundAccounts?, _ counts: AccountCounts, next: String?,
    list: String, may: Bool, _ pool: Pool
  ) -> EmptyView {
    if !query.text.isEmpty {
      return EmptyView(
        heading: Message("No users found"),
        sentence: found?.isCut == true
          ? Message(
            """
            Not all users were searched, because many match a part of the search. Type more to \
            narrow it.
            """)
          : query.filter == .all
            ? FoundText.hasShortWord(query.text)
              ? Message(
                """
                No email, name, phone number, UID, or enrollment ID matches. One or two \
                characters match only the beginning of a word.
                """)
              : Message("No email, name, phone number, UID, or enrollment ID matches.")
            : Message(
              "No email, name, phone number, UID, or enrollment ID matches. Filter: {filter}.",
              ["filter": .message(query.filter.name)]),
        link: Link(text: Message("Show all users"), href: list))
    }
    if let next {
      return EmptyView(
        heading: Message("No matching users yet"),
        sentence: Message(
          "Not all users were examined, because many have had no sign-in since they were added."),
        link: Link(
          text: Message("Examine more users"), href: query.form.at(next).query(of: list)))
    }
    guard counts.users == 0 else {
      return EmptyView(
        heading: Message("No matching users"), sentence: query.filter.noMatch,
        link: Link(text: Message("Show all users"), href: list))
    }
    return EmptyView(
      heading: Message("No users yet"),
      sentence: pool.kind == .hosted
        ? Message(
          """
          Users appear here when they sign up in your application through the REST API or when you \
          import them.
          """) : Message("Users appear here when they’ve been read from the other server."),
      link: may
        ? Link(text: Message("New user"), href: ConsolePaths.newUser(pool)) : nil,
      more: pool.kind == .hosted
        ? Link(text: Message("How users enroll"), href: pool.guides()) : nil)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.pool.name },
    .object(\.filter),
    .list(\.tabs),
    .list("userSorts") { $0.links(.email, .name) },
    .flag("isSortedByUser") { $0.links(.email, .name).contains(where: \.isCurrent) },
    .list("signInSorts") { $0.links(.lastSignIn) },
    .list("createdSorts") { $0.links(.newest) },
    .object(\.columns),
    .text(\.hidingClasses),
    .text(\.caption),
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup(\.rows),
    .object(\.pager),
    .object(\.empty),
    .text(\.newUser),
    .text(\.deletedUser),
    .text(\.file),
    .optional(\.list),
    .optional(\.selection),
    .text(\.removals),
  ]
}

enum UsersRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let users = UsersPage(
      parts: parts, view: try parts.template("users/users"), row: try parts.template("users/row"))
    table.inside(ConsolePaths.users, .get(.findUsers), users.show)
    table.inside(
      ConsolePaths.usersFile, .performing(.exportUsers),
      UsersFile(identity: identity, actions: parts.actions).download)

    let findUsers = try parts.page("users/find", FindUsersPage.init)
    table.signedIn(.get, ConsolePaths.findUsers, findUsers.show)

    let newUser = try parts.page("users/new", NewUserPage.init)
    table.inside(ConsolePaths.newUser, .get(.changeUsers, needs: .hosting), newUser.show)
    table.inside(ConsolePaths.newUser, .performing(.createUser), newUser.create)

    let user = try parts.page("users/user", UserPage.init)
    table.inside(ConsolePaths.user, .get(.findUsers), before: user.read, user.show)
  }
}

extension ConsolePaths {
  static let users = PoolPath0("users")
  static let user = PoolPath1("users", nil)
  static let findUsers = Path("users")
  static let usersFile = PoolPath0("users.csv")
  // Not below `users`, because a UID can be any word.
  static let newUser = PoolPath0("new-user")
}
