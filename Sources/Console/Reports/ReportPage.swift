import HTTP
import Identity
import Localization
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
    let people = DownloadedUsers.PoolCount(context.pool, count: content.table.people)
    try await contents.identity.accounts.recordShown(
      content.users ?? .pools([people]), by: context.signedIn.author)
    let name = report.name(about: contents.subject(report, context))
    let frame = try await actions.frames.frame(
      name, in: context,
      crumbs: [
        Link(text: Message("Reports"), href: ConsolePaths.reports(context.pool))
      ])
    let file = content.query.query(of: ConsolePaths.reportFile(report)(context.pool))
    let shown = content.byTenant?.rows.count ?? content.table.rows.count
    let pager =
      report.listsUsers && shown > 0 || content.next != nil || after != nil
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
          emptiness: report.emptiness, pager: pager,
          removals: ConsolePaths.removals(context.pool))))
  }

  func download(_ context: PoolContext) async throws -> Response {
    let content = try await contents.read(
      report, context, after: nil, limit: Self.batch, counts: false)
    return content.table.csv(contents.catalog).response(named: report.rawValue)
  }

  /// Downloads a list of users, which is recorded.
  func export(_ context: PoolContext) async throws -> Response {
    let query = context.signedIn.query
    return try await actions.download(
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
    while let next = content.next, content.table.rows.count < ActionForms.longestFile {
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
  let emptiness: Message
  var pager: PagerView?
  /// The address that previews a bulk removal.
  var removals: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.title),
    .text(\.pool),
    .text("summary") { $0.content.summary },
    .list("menus") { $0.content.menus },
    .text(\.file),
    .text(\.export),
    .optional("details") { $0.content.details },
    .optional("chart") { $0.content.chart },
    .optional("byTenant") { $0.content.byTenant },
    .flag("hasRows") { !$0.content.table.rows.isEmpty },
    .object("table") { $0.content.table },
    .text("selection") { $0.content.table.isSelecting ? $0.removals : nil },
    .optional(\.pager),
    .object("empty") { view in
      EmptyView(heading: Message("Nothing to report"), sentence: view.emptiness)
    },
  ]
}

struct ReportTable: ViewModel {
  /// The number of different users in the rows, each of which begins with one.
  var people: Int {
    Set(
      rows.compactMap { row -> [UInt8]? in
        if case .name(_, let href?)? = row.first { Array(href.utf8) } else { nil }
      }
    ).count
  }

  /// Appends a row with a note, which says that the file is incomplete.
  mutating func end(with note: Message) {
    rows.append([.text(note)] + columns.dropFirst().map { _ in .text(.verbatim("")) })
  }

  enum Cell: Sendable {
    case text(Message)
    case number(Int)
    case share(Int, of: Int)
    case name(String, href: String? = nil)
    /// A day, the same in every time zone.
    case day(Day)
    case moment(Instant?)
    /// A time that's relative for 30 days.
    case past(Instant?)
    /// The end of something that's chosen by its last day.
    case end(Instant)
    /// Markup, and the same as text for the file.
    case marked(Markup?, Message)

    fileprivate var isNumber: Bool {
      switch self {
      case .number, .share: true
      default: false
      }
    }

    func markup(_ times: Times) -> Markup {
      switch self {
      case .text(let message): Markup(escaping: message)
      case .number(let number): Markup(escaping: Message.value(.number(number)))
      case .share(let part, let whole): Meter.share(part, of: whole)
      case .name(let name, let href): Self.name(Formatted.short(name), href)
      case .day(let day): Markup(escaping: Message.value(Times.value(day)))
      case .moment(let moment): moment.map(times.moment) ?? AccountChips.never
      case .past(let moment): moment.map(times.past) ?? HTML.none
      case .end(let end): times.end(end)
      case .marked(let markup, _): markup ?? HTML.none
      }
    }

    fileprivate func text(_ catalog: Catalog) -> String {
      switch self {
      case .text(let message), .marked(_, let message): catalog.text(message)
      case .number(let number): String(number)
      case .share(let part, let whole): catalog.text(Meter.percent(part, of: whole))
      case .name(let name, _): name
      case .day(let day): day.description
      case .moment(let moment), .past(let moment): moment?.rfc3339Milliseconds ?? ""
      case .end(let end): end.rfc3339Milliseconds
      }
    }

    private static func name(_ name: String, _ href: String?) -> Markup {
      if name.isEmpty { return HTML.none }
      guard let href else { return HTML.isolated(name) }
      return #"<a class="who clamp" href="\#(href)">\#(HTML.isolated(name))</a>"#
    }
  }

  let caption: Message
  /// The headings; the first column names the row.
  let columns: [Message]
  var rows: [[Cell]] = []
  /// What's done next about each row, which isn't in the file; empty if nothing is.
  var next: [Link] = []
  /// Whether rows have checkboxes, for an action on the selected users.
  var isSelecting = false
  let times: Times

  /// The table as a file, with numbers without separators and times in UTC.
  func csv(_ catalog: Catalog) -> CSV {
    var csv = CSV(columns.map { catalog.text($0) })
    for row in rows { csv.add(row.map { $0.text(catalog) }) }
    return csv
  }

  static let keys: Keys<Self> = [
    .text(\.caption),
    .list("columns") { table in
      table.columns.enumerated().map { index, column in
        Heading(text: column, isNumber: table.rows.first?[index].isNumber ?? false)
      } + (table.next.isEmpty ? [] : [Heading(text: Message("Next"))])
    },
    .list("rows") { table in
      table.rows.enumerated().map { index, cells in
        ReportRow(
          cells: cells, next: table.next.isEmpty ? nil : table.next[index], table: table)
      }
    },
  ]
}

struct ReportRow: ViewModel {
  let cells: [ReportTable.Cell]
  let next: Link?
  let table: ReportTable

  /// The user whom the row begins with; nil without a checkbox.
  private var user: (name: String, href: String)? {
    guard table.isSelecting, case .name(let name, let href?)? = cells.first else { return nil }
    return (name, href)
  }

  static let keys: Keys<Self> = [
    .text("user") { $0.user?.href },
    .text("name") { row in
      if case .name(let name, _)? = row.cells.first { name } else { "" }
    },
    .markup("head") { row in row.cells.first.map { $0.markup(row.table.times) } },
    .optional(\.next),
    .list("cells") { row in
      zip(row.cells, row.table.columns).dropFirst().map { cell, column in
        ReportCell(
          column: column, isNumber: cell.isNumber, content: cell.markup(row.table.times))
      }
    },
  ]
}

struct ReportCell: ViewModel {
  let column: Message
  let isNumber: Bool
  let content: Markup

  static let keys: Keys<Self> = [
    .text(\.column),
    .flag(\.isNumber),
    .markup(\.content),
  ]
}
