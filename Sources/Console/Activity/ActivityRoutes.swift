import HTTP
import Identity

enum ActivityRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ActivityPage(
      identity: parts.identity, frames: parts.frames,
      view: try parts.template("activity/activity", for: ActivityView.self))
    table.inScope(.get, ConsolePaths.activity, .findUsers, page.show)
    let files = ActivityFiles(identity: parts.identity, catalog: parts.frames.catalog)
    table.inScope(.get, ConsolePaths.enrollmentFile, .seeScope, files.enrollment)
    table.inScope(.get, ConsolePaths.attemptsFile, .seeScope, files.attempts)
    table.inScope(.get, ConsolePaths.rejectionsFile, .seeScope, files.rejections)
  }
}

extension ConsolePaths {
  static let activity = ScopePath0("activity")
  static let enrollmentFile = ScopePath0("activity", "enrollment.csv")
  static let attemptsFile = ScopePath0("activity", "attempts.csv")
  static let rejectionsFile = ScopePath0("activity", "rejections.csv")
}
