import HTTP
import Identity

/// `S/users.csv`: the list of users as a file, with the filters and the columns of the page.
struct UsersFile: Sendable {
  let accounts: Accounts
  let actions: ActionForms

  private var clock: WallClock { actions.frames.clock }

  /// The most rows of a file.
  static let longest = 100_000
  private static let columns = [
    "User", "Name", "uid", "Second factor", "State", "Last sign-in", "Created",
  ]
  /// How many accounts are read at a time.
  private static let batch = 500

  func download(_ context: ScopeContext) async throws(Refusal) -> Response {
    guard context.may(.findUsers) else { throw .notAllowed(.findUsers) }
    let (scope, signedIn) = (context.scope, context.signedIn)
    let query = UsersQuery(signedIn.query)
    // Nothing is read for a form that cannot be answered.
    let unmet = try await actions.unmet(.exportUsers, signedIn)
    guard actions.request(signedIn).proof.isEmpty == false || unmet.isEmpty else {
      return try await ask(context, query, signedIn.form["confirmed"] == nil ? [] : unmet)
    }
    let (file, rows) = try await file(scope, query)
    // Who takes users in bulk stands in the log, as who takes the log does.
    do {
      let outcome = try await accounts.recordDownload(
        of: scope, count: rows, words: query.words, actions.request(signedIn))
      return actions.page(file.response(named: "users"), after: outcome)
    } catch {
      let errors = try await actions.faults(error, .exportUsers, signedIn) {
        error throws(Refusal) in throw Refusal.unavailable(error)
      }
      return try await ask(context, query, errors)
    }
  }

  /// The list has a single button for it, and no place for a code.
  private func ask(
    _ context: ScopeContext, _ query: UsersQuery, _ errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let list = query.form.query(of: ConsolePaths.users(scope))
    var frame = try await actions.frames.frame("Download users · Users", in: context, tab: .users)
    frame.crumbs = [Link(text: "Users", href: ConsolePaths.users(scope))]
    let question = ActionQuestion(
      performs: .exportUsers, heading: HTML.heading("Download users of", scope.name),
      consequences: [
        "You get a file with the emails, names and second factors of the users in the list, at most \(Words.number(Self.longest)).",
        "The download is recorded in the audit log.",
      ], button: "Download as CSV", keep: "Back to the users",
      action: query.form.query(of: ConsolePaths.usersFile(scope)), back: list,
      isDestructive: false)
    return try await actions.ask(question, context.signedIn, frame, errors: errors)
  }

  private func file(
    _ scope: Scope, _ query: UsersQuery
  ) async throws(Refusal) -> (file: CSV, rows: Int) {
    var file = CSV(Self.columns)
    var count = 0
    if query.text.isEmpty {
      count = try await list(scope, query, into: &file)
    } else {
      let found = try await refusing {
        try await accounts.search(
          scope, query.text, filter: query.filter, sort: query.sort, part: .whole)
      }
      for account in found.accounts { file.add(cells(AccountSummary(account))) }
      count = found.hits.count
      if found.isCut { Self.end(&file, after: count) }
    }
    return (file, count)
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
