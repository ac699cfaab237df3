import HTTP
import Identity

enum TokensRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let tokens = TokensPage(
      tokens: identity.serviceTokens, actions: parts.actions,
      form: try parts.template("tokens/new", for: NewTokenView.self),
      created: try parts.template("tokens/created", for: CreatedTokenView.self),
      revocation: try parts.template("tokens/revocation", for: TokenRevocationView.self))
    table.inScope(.get, ConsolePaths.newToken, .manageKeys, tokens.show)
    table.inScope(ConsolePaths.newToken, performing: [.createServiceToken], tokens.create)
    table.inScope(.get, ConsolePaths.tokenRevocation, .manageKeys, tokens.ask)
    table.inScope(
      ConsolePaths.tokenRevocation, performing: [.revokeServiceToken], tokens.revoke)
  }
}

extension ConsolePaths {
  static let newToken = ScopePath0("settings", "tokens", "new")
  static let tokenRevocation = ScopePath1("settings", "tokens", nil, "revocation")
}
