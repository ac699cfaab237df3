import HTTP
import Identity
import Localization

/// `S/users.csv`: the list of users as CSV, with the filters and columns of the page.
struct UsersFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  private var accounts: Accounts { identity.accounts }
  private var catalog: Catalog { actions.frames.catalog }

  static let columns: [Message] = [
    Message("User"), Message("Name"), Message("Phone"), .verbatim("UID"),
    Message("Second factor"), Message("State"), Message("Last sign-in"),
    Message("Last code"), Message("Created"), Message("Exempt until"),
  ]

  func download(_ context: PoolContext) async throws -> Response {
    guard context.may(.findUsers) else { throw Refusal.notAllowed(.findUsers) }
    let (pool, signedIn) = (context.pool, context.signedIn)
    let query = UsersQuery(signedIn.query)
    var (form, hidden): (Form, [HiddenField]) = (query.form, [])
    var selected: [ID<Account>]?
    if signedIn.query[UserSelection.file] != nil {
      let users = signedIn.form.selectedUsers(of: pool)
      guard !users.isEmpty else {
        return actions.frames.leave(
          Flash(text: UserSelection.missing, isAlert: true), signedIn, renewed: nil,
          to: ConsolePaths.users(pool))
      }
      selected = users
      form.add(UserSelection.file, "1")
      hidden = users.map {
        HiddenField(name: "user", value: ConsolePaths.user(pool, $0.text))
      }
    }
    return try await actions.download(
      in: context, named: "users", asking: Self.question(pool, query, selected, hidden),
      at: form.query(of: ConsolePaths.usersFile(pool))
    ) { () in
      let (file, count) = try await file(pool, query, selected)
      return (
        file, .pools([DownloadedUsers.PoolCount(pool, count: count)]),
        selected == nil ? query.words : Message("selected users")
      )
    }
  }

  private static func question(
    _ pool: Pool, _ query: UsersQuery, _ selected: [ID<Account>]?, _ hidden: [HiddenField]
  ) -> FormPage {
    let longest = query.text.isEmpty ? ActionForms.longestFile : Accounts.mostHits
    return FormPage(
      title: Message("Download users · Users"),
      crumbs: [Link(text: Message("Users"), href: ConsolePaths.users(pool))],
      heading: Message(
        "Download users of {pool}?", ["pool": .name(Formatted.short(pool.name))]),
      consequences: [
        Message(
          """
          The file contains the listed users’ emails, names, phone numbers, UIDs, second factors, \
          states, last sign-ins, last codes, creation dates, and exemptions. It has at most \
          {longest} users.
          """, ["longest": .number(selected?.count ?? longest)]),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, hidden: hidden, button: Message("Download as CSV"),
      back: query.form.query(of: ConsolePaths.users(pool)))
  }

  private func file(
    _ pool: Pool, _ query: UsersQuery, _ selected: [ID<Account>]?
  ) async throws -> (file: CSV, rows: Int) {
    var file = CSV(Self.columns.map { catalog.text($0) })
    var count = 0
    func add(_ part: [AccountSummary]) async throws {
      let ends = try await identity.exemptions.ends(of: part.map(\.key))
      for account in part { file.add(cells(account, exemptUntil: ends[account.key])) }
      count += part.count
    }
    if let selected {
      try await add(accounts.summaries(of: selected, in: pool))
      return (file, count)
    }
    let isCut = try await accounts.forEachPart(
      of: query.listing, in: pool, atMost: ActionForms.longestFile, add)
    if isCut {
      file.end(
        with: catalog.text(
          Message(
            one: """
              Incomplete: only the first {count} user is included. Search or filter the list to \
              include fewer.
              """,
            other: """
              Incomplete: only the first {count} users are included. Search or filter the list to \
              include fewer.
              """, ["count": .number(count)])))
    }
    return (file, count)
  }

  private func cells(_ account: AccountSummary, exemptUntil: Instant?) -> [String] {
    [
      account.label, account.displayName ?? "", account.phoneNumber ?? "", account.id.text,
      catalog.text(FactorText.kinds(account)),
      catalog.text(AccountChips.stateText(account, at: actions.frames.clock.now())),
      account.lastLoginAt?.rfc3339Milliseconds ?? catalog.text(Message("never")),
      account.lastCodeAt?.rfc3339Milliseconds ?? catalog.text(Message("never")),
      account.createdAt.rfc3339Milliseconds, exemptUntil?.rfc3339Milliseconds ?? "",
    ]
  }
}
