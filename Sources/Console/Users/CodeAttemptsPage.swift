import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/code-attempts`: a user's code attempts within the retention period, newest first.
struct CodeAttemptsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<CodeAttemptsView>

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    let account = try await identity.account(uid, in: context)
    let size = PageSize(context.signedIn.query)
    let after = context.signedIn.query.text("after").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.codeAttempts.list(account, after: after, limit: size.rows)
    let path = ConsolePaths.codeAttempts(pool, account.id.text)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    let settings = try await identity.support.settings(pool)
    let title = Message(
      "Code attempts · {user} · Users", ["user": .name(Formatted.short(account.label))])
    let frame = try await frames.frame(
      title, in: context, crumbs: Link.crumbs(to: account, in: pool))
    return .html(
      view.render(
        CodeAttemptsView(
          frame: FrameView(frame), context: context, account: account, page: page, size: size,
          after: after, days: settings.codeAttemptDays)))
  }
}

extension Identity {
  func account(_ uid: String, in context: PoolContext) async throws -> Account {
    let found = try await accounts.find(context.pool, ID(uid))
    guard let found else { throw Refusal.notFound }
    return found
  }
}

struct CodeAttemptsView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let account: Account
  let page: Page<CodeAttempt>
  let size: PageSize
  let after: String?
  let days: Int

  private var pager: PagerView? {
    guard !page.items.isEmpty else { return nil }
    return PagerView(
      shown: CodeAttemptText.number(page.items.reduce(0) { $0 + $1.times }),
      path: ConsolePaths.codeAttempts(context.pool, account.id.text),
      query: size.form, after: after, next: page.next)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { Formatted.short($0.account.label) },
    .text("explanation") {
      Message(
        one: """
          Every code this user entered and its result, newest first. Entries are deleted after \
          {count} day. The codes themselves are never stored.
          """,
        other: """
          Every code this user entered and its result, newest first. Entries are deleted after \
          {count} days. The codes themselves are never stored.
          """, ["count": .number($0.days)])
    },
    .list("rows") { view in
      view.page.items.map { CodeAttemptRow($0, of: view.account, view.frame.times) }
    },
    .optional("pager") { $0.pager },
    .object("empty") { EmptyView(codeAttemptsOf: $0.context.pool, days: $0.days) },
  ]
}

struct CodeAttemptRow: ViewModel {
  let run: CodeAttemptRun
  let factor: Message?
  let times: Times

  init(_ codeAttempt: CodeAttempt, of account: Account, _ times: Times) {
    self.init(CodeAttemptRun(attempts: [codeAttempt]), of: account, times)
  }

  init(_ run: CodeAttemptRun, of account: Account, _ times: Times) {
    self.run = run
    self.times = times
    let enrollment = run.newest.enrollment
    let found = account.factors.first { $0.id == enrollment }
    factor =
      if let found {
        Message.verbatim(found.label)
      } else if enrollment != nil {
        Message("removed factor")
      } else {
        nil
      }
  }

  var strip: Markup? {
    WindowStrip.marked(run.newest.window, at: run.distance, isAccepted: run.isAccepted)
  }

  /// The time of the code, or the days of the first and the last one.
  private var at: Markup {
    let days = (times.calendarDay(of: run.oldest.at), times.calendarDay(of: run.newest.at))
    guard days.0 != days.1 else { return times.past(run.newest.at) }
    return Markup(
      escaping: Message("{from} to {to}", ["from": Times.short(days.0), "to": Times.short(days.1)]))
  }

  static let keys: Keys<Self> = [
    .text("what") { CodeAttemptText.sentence($0.run) },
    .text(\.factor),
    .text("address") {
      $0.run.newest.origin.address.isEmpty ? nil : $0.run.newest.origin.address
    },
    .text("program") { $0.run.newest.origin.program },
    .markup("strip") { $0.strip },
    .markup("at") { $0.at },
  ]
}

extension CodeAttemptsPage {
  /// `S/users/{uid}/code-attempts.csv`: the codes of the chart on a user's page, as CSV.
  ///
  /// Distances describe how a person behaves, so the file requires the permission to export users,
  /// and is recorded.
  func download(_ context: PoolContext, _ uid: String) async throws -> Response {
    let account = try await identity.account(uid, in: context)
    return try await actions.download(
      in: context, named: "code-attempts-\(context.pool.objectID)",
      asking: Self.question(account, in: context.pool),
      at: ConsolePaths.codeAttemptsFile(context.pool, account.id.text)
    ) { () in
      let page = try await identity.codeAttempts.list(account)
      let table = DriftTimeline.table(page.items, context.signedIn.times)
      return (
        table.csv(actions.frames.catalog), .user(account, in: context.pool), table.caption
      )
    }
  }

  private static func question(_ account: Account, in pool: Pool) -> FormPage {
    FormPage(
      title: Message("Download code attempts"),
      crumbs: Link.crumbs(to: account, in: pool),
      heading: Message(
        "Download code attempts of {user}?", ["user": .name(Formatted.short(account.label))]),
      consequences: [
        Message("The file contains the time, offset, and result of each TOTP code in the chart."),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"),
      back: ConsolePaths.user(pool, account.id.text))
  }
}

enum CodeAttemptsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let codeAttempts = try parts.page("code-attempts/all", CodeAttemptsPage.init)
    table.inside(ConsolePaths.codeAttempts, .get(.findUsers, needs: .secrets), codeAttempts.show)
    table.inside(
      ConsolePaths.codeAttemptsFile, .performing(.exportUsers, needs: .secrets),
      codeAttempts.download)
  }
}

extension ConsolePaths {
  static let codeAttempts = PoolPath1("users", nil, "code-attempts")
  static let codeAttemptsFile = PoolPath1("users", nil, "code-attempts.csv")
}
