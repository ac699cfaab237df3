import HTTP
import Identity

enum ReportsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let view = try parts.template("reports/report", for: ReportView.self)
    let list = ReportsPage(
      frames: frames, view: try parts.template("reports/reports", for: ReportsView.self))
    table.inScope(.get, ConsolePaths.reports, .seeScope, list.show)
    table.somewhere(.get, ConsolePaths.allReports, .seeScope, list.showAll)

    let contents = ReportContents(identity: identity, catalog: frames.catalog)
    let removals = AllRemovalsPage(contents: contents, frames: frames, view: view)
    table.somewhere(
      .get, ConsolePaths.allRemovals, Report.removals.permission, removals.show)
    table.somewhere(
      .get, ConsolePaths.allRemovalsFile, Report.removals.permission, removals.download)

    for report in Report.allCases {
      let page = ReportPage(
        report: report, contents: contents, actions: parts.actions, view: view)
      table.inScope(.get, ConsolePaths.report(report), report.permission, page.show)
      let file = ConsolePaths.reportFile(report)
      if report.listsUsers {
        table.inScope(file, performing: [.exportUsers], page.export)
      } else {
        table.inScope(.get, file, report.permission, page.download)
      }
    }
  }
}

extension ConsolePaths {
  static let allReports = Path("reports")
  static let allRemovals = Path("reports", "removals")
  static let allRemovalsFile = Path("reports", "removals.csv")
  static let reports = ScopePath0("reports")

  static func report(_ report: Report) -> ScopePath0 { reportPath(report.rawValue) }

  /// The address of a report, without what its query chooses.
  static func report(_ report: Report, about subject: ReportSubject) -> String {
    guard let scope = subject.scope else {
      return report == .exemptions ? exemptions() : allRemovals()
    }
    return Self.report(report)(scope)
  }

  static func reportFile(_ report: Report) -> ScopePath0 { reportPath(report.rawValue + ".csv") }

  private static func reportPath(_ name: String) -> ScopePath0 {
    ScopePath0("reports", .literal(name))
  }
}
