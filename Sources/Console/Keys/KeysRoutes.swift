import HTTP
import Identity

/// API keys.
enum KeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let keys = KeysPage(
      keys: identity.apiKeys, actions: parts.actions,
      view: try parts.template("keys/revocation", for: KeyRevocationView.self))
    table.inProject(ConsolePaths.keys, performing: [.createAPIKey], keys.create)
    table.inProject(.get, ConsolePaths.keyRevocation, .manageKeys, keys.ask)
    table.inProject(ConsolePaths.keyRevocation, performing: [.revokeAPIKey], keys.revoke)
  }
}
