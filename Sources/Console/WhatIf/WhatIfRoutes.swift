import HTTP
import Identity

/// The sign-in simulator.
enum WhatIfRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let whatIf = WhatIfPage(
      signIns: identity.signIns, frames: frames,
      view: try parts.template("what-if/what-if", for: WhatIfView.self))
    table.somewhere(.get, ConsolePaths.whatIf, .findUsers, whatIf.show)
  }
}
