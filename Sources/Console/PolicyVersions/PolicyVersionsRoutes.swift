import HTTP
import Identity

enum PolicyVersionsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = PolicyVersionsPage(
      identity: parts.identity, frames: parts.frames,
      view: try parts.template("policy-versions/list", for: PolicyVersionsView.self))
    table.inPool(.get, ConsolePaths.policyVersions, .readPolicy, page.show)
  }
}

extension ConsolePaths {
  static let policyVersions = PoolPath0("policy", "versions")
}
