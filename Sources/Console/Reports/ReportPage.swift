import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/reports/{report}`: a report about a pool, to be printed, and its file.
struct ReportPage: Sendable {
  let report: Report
  let contents: ReportContents
  let actions: ActionForms
  let view: Template<ReportView>

  /// The number of users that are read at a time for a file.
  private static let batch = 500

  func show(_ context: PoolContext) async throws -> Response {
    let after = context.signedIn.query.text("after")
    let size = PageSize(context.signedIn.query)
    let content = try await contents.read(report, context, after: after, limit: size.rows)
    let path = ConsolePaths.report(report)(context.pool)
    let page = Page(items: content.table.rows, next: content.next)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    let name = report.name(about: contents.subject(report, context))
    var frame = try await actions.frames.frame(name, in: context)
    frame.crumbs = [
      Link(text: Message("Reports"), href: ConsolePaths.reports(context.pool))
    ]
    let file = content.query.query(of: ConsolePaths.reportFile(report)(context.pool))
    let shown = content.table.rows.count
    let pager =
      report.listsUsers && (shown > 0 || content.next != nil)
      ? PagerView(
        shown: content.total.map {
          Message(
            one: "{number} of {count} row", other: "{number} of {count} rows",
            ["number": .number(shown), "count": .number($0)])
        } ?? Message(one: "{count} row", other: "{count} rows", ["count": .number(shown)]),
        path: path,
        query: content.query, after: after, next: content.next) : nil
    return .html(
      view.render(
        ReportView(
          frame: FrameView(frame), title: name, pool: context.pool.name, content: content,
          file: report.listsUsers ? nil : file,
          export: report.listsUsers && context.may(.exportUsers) ? file : nil,
          csrf: context.signedIn.session.csrfToken, emptiness: report.emptiness, pager: pager)))
  }

  func download(_ context: PoolContext) async throws -> Response {
    let content = try await contents.read(report, context, after: nil, limit: Self.batch)
    return content.table.csv(contents.catalog).response(named: report.rawValue)
  }

  /// Downloads a list of users, which is recorded.
  func export(_ context: PoolContext) async throws -> Response {
    let download = UserDownload(identity: contents.identity, actions: actions)
    let query = context.signedIn.query
    return try await download.response(
      in: context, named: report.rawValue, asking: question(context.pool, query),
      at: query.query(of: ConsolePaths.reportFile(report)(context.pool))
    ) { () in
      let content = try await users(context)
      let (table, own) = (
        content.table, DownloadedUsers.PoolCount(context.pool, count: content.table.people)
      )
      return (table.csv(contents.catalog), content.users ?? .pools([own]), table.caption)
    }
  }

  private func users(_ context: PoolContext) async throws -> ReportContent {
    var content = try await contents.read(
      report, context, after: nil, limit: Self.batch, counts: false)
    while let next = content.next, content.table.rows.count < UsersFile.longest {
      let more = try await contents.read(
        report, context, after: next, limit: Self.batch, counts: false)
      content.table.rows += more.table.rows
      content.next = more.next
      // Lets other tasks of this thread run.
      await Task.yield()
    }
    if content.next != nil {
      let count = content.table.rows.count
      content.table.end(
        with: Message(
          one: "Incomplete: only the first {count} row is included.",
          other: "Incomplete: only the first {count} rows are included.", ["count": .number(count)])
      )
    }
    return content
  }

  private func question(_ pool: Pool, _ query: Form) -> FormPage {
    let back = query.query(of: ConsolePaths.report(report)(pool))
    return FormPage(
      title: Message("Download this report?"), crumbs: [Link(text: report.name, href: back)],
      consequences: [
        Message(
          "The file contains every row of “{report}”, with users’ email addresses.",
          ["report": .message(report.name)]),
        Message("The download is recorded in the audit log."),
      ], isQuestion: true, button: Message("Download as CSV"), back: back)
  }
}

struct ReportView: ViewModel {
  let frame: FrameView
  let title: Message
  var pool: String?
  let content: ReportContent
  var file: String?
  /// The address of the form that downloads a file of users; nil without the permission.
  var export: String?
  var csrf = ""
  let emptiness: Message
  var pager: PagerView?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.title),
    .text(\.pool),
    .text("summary") { $0.content.summary },
    .list("menus") { $0.content.menus },
    .text(\.file),
    .text(\.export),
    .text(\.csrf),
    .optional("details") { $0.content.details },
    .optional("chart") { $0.content.chart },
    .flag("hasRows") { !$0.content.table.rows.isEmpty },
    .object("table") { $0.content.table },
    .text("zone") { $0.frame.times.zoneText },
    .optional(\.pager),
    .object("empty") { view in
      EmptyView(heading: Message("Nothing to report"), sentence: view.emptiness)
    },
  ]
}
