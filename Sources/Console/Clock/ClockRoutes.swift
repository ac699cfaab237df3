import HTTP
import Identity

enum ClockRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let clock = ClockPage(
      clock: identity.clockGuard, carriesMail: identity.messages.carriesMail,
      actions: parts.actions,
      view: try parts.template("clock/clock", for: ClockView.self))
    table.signedIn(.get, ConsolePaths.clock, .protectUsers, clock.show)
    table.signedIn(ConsolePaths.clock, performing: [.confirmClock], clock.confirm)
  }
}

extension ConsolePaths {
  static let clock = Path("clock")
}
