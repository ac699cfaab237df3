import HTTP
import Identity

enum ReportsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let view = try parts.template("reports/report", for: ReportView.self)
    let list = ReportsPage(
      frames: frames, view: try parts.template("reports/reports", for: ReportsView.self))
    table.inPool(.get, ConsolePaths.reports, .seePool, list.show)
    table.somewhere(.get, ConsolePaths.allReports, .seePool, list.showAll)

    let contents = ReportContents(identity: identity, catalog: frames.catalog)
    let removals = AllRemovalsPage(contents: contents, frames: frames, view: view)
    table.somewhere(
      .get, ConsolePaths.allRemovals, Report.removals.permission, removals.show)
    table.somewhere(
      .get, ConsolePaths.allRemovalsFile, Report.removals.permission, removals.download)

    for report in Report.allCases {
      let page = ReportPage(
        report: report, contents: contents, actions: parts.actions, view: view)
      table.inPool(.get, ConsolePaths.report(report), report.permission, page.show)
      let file = ConsolePaths.reportFile(report)
      if report.listsUsers {
        table.inPool(file, performing: [.exportUsers], page.export)
      } else {
        table.inPool(.get, file, report.permission, page.download)
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
