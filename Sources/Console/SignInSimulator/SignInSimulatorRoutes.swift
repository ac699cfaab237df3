import HTTP
import Identity

enum SignInSimulatorRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let simulator = SignInSimulatorPage(
      signIns: identity.signIns, frames: frames,
      view: try parts.template("sign-in-simulator/sign-in-simulator", for: SignInSimulatorView.self)
    )
    table.somewhere(.get, ConsolePaths.signInSimulator, .findUsers, simulator.show)
  }
}

extension ConsolePaths {
  static let signInSimulator = Path("sign-in-simulator")
}
