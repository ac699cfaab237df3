import HTTP
import Identity
import Localization
import Templating

/// `S/users.csv`: the list of users as CSV, with the filters and columns of the page.
struct UsersFile: Sendable {
  let identity: Identity
  let actions: ActionForms

  private var accounts: Accounts { identity.accounts }
  private var clock: WallClock { actions.frames.clock }
  private var catalog: Catalog { actions.frames.catalog }

  static let columns: [Message] = [
    Message("User"), Message("Name"), Message("Phone"), .verbatim("UID"),
    Message("Second factor"), Message("State"), Message("Last sign-in"),
    Message("Created"), Message("Exempt until"),
  ]

  func download(_ context: PoolContext) async throws -> Response {
    guard context.may(.findUsers) else { throw Refusal.notAllowed(.findUsers) }
    let query = UsersQuery(context.signedIn.query)
    let download = UserDownload(identity: identity, actions: actions)
    return try await download.response(
      in: context, named: "users", asking: Self.question(context.pool, query),
      at: query.form.query(of: ConsolePaths.usersFile(context.pool))
    ) { () in
      let (file, count) = try await file(context.pool, query)
      return (file, .pools([DownloadedUsers.PoolCount(context.pool, count: count)]), query.words)
    }
  }

  private static func question(_ pool: Pool, _ query: UsersQuery) -> FormPage {
    FormPage(
      title: Message("Download users · Users"),
      crumbs: [Link(text: Message("Users"), href: ConsolePaths.users(pool))],
      heading: Message(
        "Download users of {pool}?", ["pool": .name(Formatted.short(pool.name))]),
      consequences: [
        Message(
          """
          The file contains the listed users’ emails, names, phone numbers, UIDs, second factors, \
          states, sign-in dates, creation dates, and exemptions. It has at most {longest} users.
          """, ["longest": .number(longest(query))]),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"),
      back: query.form.query(of: ConsolePaths.users(pool)))
  }

  /// The maximum number of rows; a search finds fewer users than a list has.
  private static func longest(_ query: UsersQuery) -> Int {
    query.text.isEmpty ? UserDownload.longest : Accounts.mostHits
  }

  private func file(
    _ pool: Pool, _ query: UsersQuery
  ) async throws -> (file: CSV, rows: Int) {
    var file = CSV(Self.columns.map { catalog.text($0) })
    var count = 0
    let isCut = try await accounts.forEachPart(
      of: query.listing, in: pool, atMost: UserDownload.longest
    ) {
      part in
      let ends = try await identity.exemptions.ends(of: part.map(\.key))
      for account in part { file.add(cells(account, exemptUntil: ends[account.key])) }
      count += part.count
    }
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
      catalog.text(AccountChips.stateText(account, at: clock.now())),
      account.lastLoginAt?.rfc3339Milliseconds ?? catalog.text(Message("never")),
      account.createdAt.rfc3339Milliseconds, exemptUntil?.rfc3339Milliseconds ?? "",
    ]
  }
}
