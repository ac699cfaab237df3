import HTTP
import Identity

enum SetupRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let setup = SetupPage(
      setup: identity.setup, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("setup/setup", for: SetupView.self))
    table.open(.get, ConsolePaths.setup, setup.show)
    table.open(.post, ConsolePaths.setup, setup.complete)
  }
}

extension ConsolePaths {
  static let setup = Path("setup")
}
