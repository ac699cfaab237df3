import HTTP
import Identity
import Localization
import Templating

/// `S/reports` and `/reports`: the reports about a pool or the instance.
struct ReportsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ReportsView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let frame = try await frames.frame(Message("Reports"), in: context)
    let subjects: [ReportSubject] =
      pool.tenant == nil ? [.pool(pool), .project(pool)] : [.pool(pool)]
    let items = Report.allCases.flatMap { report in
      subjects.filter { context.signedIn.administrator.may(read: report, about: $0) }.map {
        ReportItem(
          name: report.name(about: $0), explanation: report.explanation,
          href: ConsolePaths.link(report, about: $0))
      }
    }
    return .html(view.render(ReportsView(frame: FrameView(frame), items: items)))
  }

  func showAll(_ signedIn: SignedIn) async throws -> Response {
    let frame = await frames.frame(Message("Reports"), for: signedIn)
    let items = Report.allCases.filter {
      signedIn.administrator.may(read: $0, about: .instance)
    }.map { report in
      ReportItem(
        name: report.name, explanation: report.explanationOfAll,
        href: ConsolePaths.report(report, about: .instance))
    }
    return .html(view.render(ReportsView(frame: FrameView(frame), items: items)))
  }
}

struct ReportsView: ViewModel {
  let frame: FrameView
  let items: [ReportItem]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("hasItems") { !$0.items.isEmpty },
    .list(\.items),
  ]
}

struct ReportItem: ViewModel {
  let name: Message
  let explanation: Message
  let href: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.explanation),
    .text(\.href),
  ]
}

extension ConsolePaths {
  fileprivate static func link(_ report: Report, about subject: ReportSubject) -> String {
    let path = Self.report(report, about: subject)
    guard case .project = subject else { return path }
    return (["tenants": "all"] as Form).query(of: path)
  }
}

/// `/reports/removals`: removals of second factors in all projects, by reason and agent.
struct AllRemovalsPage: Sendable {
  let contents: ReportContents
  let frames: Frames
  let view: Template<ReportView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let content = try await contents.removals(about: .instance, signedIn)
    let name = Report.removals.name(about: .instance)
    let frame = await frames.frame(
      name, for: signedIn, crumbs: [Link(text: Message("Reports"), href: ConsolePaths.allReports())]
    )
    return .html(
      view.render(
        ReportView(
          frame: FrameView(frame), title: name, content: content,
          file: content.query.query(of: ConsolePaths.allRemovalsFile()),
          emptiness: Report.removals.emptiness)))
  }

  func download(_ signedIn: SignedIn) async throws -> Response {
    try await contents.removals(about: .instance, signedIn).table.csv(contents.catalog)
      .response(named: Report.removals.rawValue)
  }
}

enum ReportsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let view = try parts.template("reports/report", for: ReportView.self)
    let list = try parts.page("reports/reports", ReportsPage.init)
    table.inside(ConsolePaths.reports, .get(.seePool), list.show)
    table.somewhere(ConsolePaths.allReports, .get(.seePool), list.showAll)

    let contents = ReportContents(identity: identity, catalog: frames.catalog)
    let removals = AllRemovalsPage(contents: contents, frames: frames, view: view)
    table.somewhere(ConsolePaths.allRemovals, .get(Report.removals.permission), removals.show)
    table.somewhere(
      ConsolePaths.allRemovalsFile, .get(Report.removals.permission), removals.download)

    for report in Report.allCases {
      let page = ReportPage(report: report, contents: contents, actions: parts.actions, view: view)
      table.inside(ConsolePaths.report(report), .get(report.permission), page.show)
      let file = ConsolePaths.reportFile(report)
      if report.listsUsers {
        table.inside(file, .performing(.exportUsers), page.export)
      } else {
        table.inside(file, .get(report.permission), page.download)
      }
    }
  }
}

extension ConsolePaths {
  static let allReports = Path("reports")
  static let allRemovals = Path("reports", "removals")
  static let allRemovalsFile = Path("reports", "removals.csv")
  static let reports = PoolPath0("reports")

  static func report(_ report: Report) -> PoolPath0 { reportPath(report.rawValue) }

  /// The address of a report, without what its query chooses.
  static func report(_ report: Report, about subject: ReportSubject) -> String {
    guard let pool = subject.basePool else {
      return report == .exemptions ? exemptions() : allRemovals()
    }
    return Self.report(report)(pool)
  }

  static func reportFile(_ report: Report) -> PoolPath0 { reportPath(report.rawValue + ".csv") }

  private static func reportPath(_ name: String) -> PoolPath0 {
    PoolPath0("reports", .literal(name))
  }
}
