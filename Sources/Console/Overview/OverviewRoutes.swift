import HTTP
import Identity

enum OverviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let overview = OverviewPage(
      identity: identity, frames: frames, failures: table.failures,
      view: try parts.template("overview/overview", for: OverviewView.self))
    table.inPool(.get, ConsolePaths.overview, .seePool, overview.show)
  }
}

extension ConsolePaths {
  static let tenant = overview.ofTenant
  static let overview = PoolPath0()
}
