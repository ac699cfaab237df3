import HTTP
import Identity

enum ActionLinkRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let actionLink = ActionLinkPage(
      codes: identity.outOfBandCodes, authorizer: parts.authorizer, frames: frames,
      view: try parts.template("action-link/action-link", for: ActionLinkView.self))
    table.open(.get, ConsolePaths.actionLink, actionLink.show)
    table.open(.post, ConsolePaths.actionLink, actionLink.act)
  }
}

extension ConsolePaths {
  /// The page that email action links open, at the same path as in Firebase.
  static let actionLink = Path("__", "auth", "action")
}
