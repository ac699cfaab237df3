import HTTP
import Identity

enum ComparisonRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ComparisonPage(
      identity: parts.identity, frames: parts.frames,
      view: try parts.template("comparison/comparison", for: ComparisonView.self))
    table.inPool(.get, ConsolePaths.comparison, .readPolicy, page.show)
  }
}

extension ConsolePaths {
  static let comparison = PoolPath0("policy", "comparison")
}
