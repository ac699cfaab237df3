import HTTP
import Identity
import Localization
import Templating

/// `S/reports` and `/reports`: a card for each report about a pool or the instance.
struct ReportsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ReportsView>

  func show(_ context: PoolContext) async throws -> Response {
    try await show(
      context.signedIn, context, try await frames.frame(Message("Reports"), in: context))
  }

  func showAll(_ signedIn: SignedIn) async throws -> Response {
    try await show(signedIn, nil, try await frames.frame(ofAll: Message("Reports"), for: signedIn))
  }

  private func show(
    _ signedIn: SignedIn, _ context: PoolContext?, _ frame: Frame
  ) async throws -> Response {
    let contents = ReportContents(identity: identity, catalog: frames.catalog)
    let subject = context.map { contents.subject(.enrollment, $0) } ?? .instance
    let (now, window) = (frames.clock.now(), contents.period(signedIn).0)
    var query: Form = ["period": String(window.days)]
    if let context, subject == .project(context.pool) { query.add("tenants", "all") }
    let path = context.map { ConsolePaths.reports($0.pool) } ?? ConsolePaths.allReports()
    var menus = [contents.periods(path, query)]
    if let context, context.pool.tenant == nil {
      menus.insert(contents.tenants(path, query), at: 0)
    }
    let cards = ReportCards(
      identity: identity, signedIn: signedIn, context: context, subject: subject, window: window,
      query: query, now: now)
    return .html(
      view.render(
        ReportsView(
          frame: FrameView(frame), place: context?.pool.name, isWhole: query["tenants"] != nil,
          menus: menus, days: signedIn.times.days(window.days + 1, until: now),
          enrollment: try await cards.enrollment(), removals: try await cards.removals(),
          factors: try await cards.factors(), locked: try await cards.locked(),
          exemptions: try await cards.exemptions())))
  }
}

struct ReportsView: ViewModel {
  let frame: FrameView
  let place: String?
  /// Whether it's about a project with its tenants.
  let isWhole: Bool
  let menus: [ReportMenu]
  let days: [Day]
  let enrollment, removals, factors, locked, exemptions: ReportCard?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.place),
    .flag(\.isWhole),
    .text("from") { .value(Times.value($0.days[0])) },
    .text("until") { .value(Times.value($0.days[$0.days.count - 1])) },
    .text("zone") { $0.frame.times.zoneName },
    .list(\.menus),
    .markup("rejected") { _ in ChartFill.rejected.swatch },
    .markup("outside") { _ in ChartFill.outside.swatch },
    .optional(\.enrollment),
    .optional(\.removals),
    .optional(\.factors),
    .optional(\.locked),
    .optional(\.exemptions),
  ]
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
      table.inside(
        ConsolePaths.report(report), .get(report.permission, needs: report.needs), page.show)
      let file = ConsolePaths.reportFile(report)
      if report.listsUsers {
        table.inside(file, .performing(.exportUsers, needs: report.needs), page.export)
      } else {
        table.inside(file, .get(report.permission, needs: report.needs), page.download)
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
