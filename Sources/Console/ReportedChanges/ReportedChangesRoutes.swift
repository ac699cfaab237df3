import HTTP
import Identity

enum ReportedChangesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let reportedChange = ReportedChangePage(
      reportedChanges: identity.reportedChanges, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("reported-changes/reported-change", for: ReportedChangeView.self)
    )
    table.open(.get, ConsolePaths.reportedChange, reportedChange.show)
    table.open(.post, ConsolePaths.reportedChange, reportedChange.object)
  }
}
