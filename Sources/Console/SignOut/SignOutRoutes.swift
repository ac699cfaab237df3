import HTTP
import Identity

enum SignOutRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let signOut = SignOutPage(
      sessions: identity.consoleSessions, cookies: parts.authorizer.cookies, frames: frames,
      view: try parts.template("sign-out/sign-out", for: SignOutView.self))
    table.settingUp(.get, ConsolePaths.signOut, at: .anyStage, signOut.ask)
    table.settingUp(.post, ConsolePaths.signOut, at: .anyStage, signOut.signOut)
  }
}

extension ConsolePaths {
  static let signOut = Path("sign-out")
}
