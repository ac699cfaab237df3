import HTTP
import Identity

enum ActivityRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ActivityPage(
      identity: parts.identity, frames: parts.frames,
      view: try parts.template("activity/activity", for: ActivityView.self))
    table.inPool(.get, ConsolePaths.activity, .findUsers, page.show)
    let files = ActivityFiles(identity: parts.identity, catalog: parts.frames.catalog)
    table.inPool(.get, ConsolePaths.enrollmentFile, .seePool, files.enrollment)
    table.inPool(.get, ConsolePaths.attemptsFile, .seePool, files.attempts)
    table.inPool(.get, ConsolePaths.rejectionsFile, .seePool, files.rejections)
  }
}

extension ConsolePaths {
  static let activity = PoolPath0("activity")
  static let enrollmentFile = PoolPath0("activity", "enrollment.csv")
  static let attemptsFile = PoolPath0("activity", "attempts.csv")
  static let rejectionsFile = PoolPath0("activity", "rejections.csv")
}
