import HTTP
import Identity
import Localization
import Templating

struct UsersView: ViewModel {
  let frame: FrameView
  let pool: Pool
  /// The table's rows, each a `UserRow`.
  let rows: Markup
  let filter: FilterView
  let tabs: [Link]
  let sorts: [Link]
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
  let csrf: String
  /// The form for a pasted list; nil without the permission.
  let list: ListForm?
  let selection: UserSelection?
  let removals: String

  init(
    frame: Frame, context: PoolContext, page: Page<AccountSummary>, rows: Markup,
    found: FoundAccounts?, query: UsersQuery, columns: UserColumns, counts: AccountCounts,
    suspended: Int, exempt: ExemptionCounts, isSelecting: Bool
  ) {
    self.frame = FrameView(frame)
    pool = context.pool
    csrf = context.signedIn.session.csrfToken
    self.rows = rows
    let list = ConsolePaths.users(pool)
    filter = FilterView(
      action: list, label: Message("Email, name, phone, or UID"), query: query.text,
      keeping: query.kept)
    let filters = Accounts.Filter.allCases.filter {
      $0 != .exempt || exempt.all > 0 || query.filter == .exempt
    }
    func number(_ filter: Accounts.Filter) -> Int {
      filter.number(counts, suspended: suspended, exempt)
    }
    tabs = filters.map { each in
      Link(
        text: Message(
          "{filter} ({number})",
          ["filter": .message(each.name), "number": .number(number(each))]),
        href: query.with(each).query(of: list), isCurrent: each == query.filter)
    }
    sorts = Accounts.Sort.allCases.map { each in
      Link(
        text: each.words, href: query.with(each).query(of: list), isCurrent: each == query.sort)
    }
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
    empty = Self.empty(query, found, counts, list: list, may: context.may(.changeUsers), pool)
    self.list = context.may(.removeFactors) ? ListForm(context) : nil
    removals = ConsolePaths.removals(pool)
    selection =
      isSelecting
      ? UserSelection(
        action: removals, csrf: csrf, isOnePage: pager.isOnly,
        total: found.map(\.total.exact) ?? number(query.filter),
        all: query.selectingAll.query(of: removals)) : nil
    newUser = context.may(.changeUsers) ? ConsolePaths.newUser(pool) : nil
    deletedUser =
      context.may(.changeUsers) ? ConsolePaths.deletedUserErasure(context.pool) : nil
    file = context.may(.exportUsers) ? query.form.query(of: ConsolePaths.usersFile(pool)) : nil
  }

  private static func empty(
    _ query: UsersQuery, _ found: FoundAccounts?, _ counts: AccountCounts, list: String, may: Bool,
    _ pool: Pool
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
        link: EmptyLink(text: Message("Show all users"), href: list))
    }
    guard counts.users == 0 else {
      return EmptyView(
        heading: Message("No matching users"), sentence: query.filter.noMatch,
        link: EmptyLink(text: Message("Show all users"), href: list))
    }
    return EmptyView(
      heading: Message("No users yet"),
      sentence: Message(
        """
        Users appear here when they sign up in your application through the REST API or when you \
        import them.
        """),
      link: may
        ? EmptyLink(text: Message("New user"), href: ConsolePaths.newUser(pool)) : nil,
      more: Link(text: Message("How users enroll"), href: pool.guidance()))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.pool.name },
    .object(\.filter),
    .list(\.tabs),
    .list(\.sorts),
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
    .text(\.csrf),
    .optional(\.list),
    .optional(\.selection),
    .text(\.removals),
  ]
}
