import HTTP
import Identity

enum KeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let keys = KeysPage(keys: identity.apiKeys, actions: parts.actions)
    let list = KeyListPage(
      identity: identity, frames: parts.frames,
      view: try parts.template("keys/list", for: KeyListView.self))
    table.inPool(.get, ConsolePaths.keys, .manageKeys, list.show)
    table.inProject(ConsolePaths.keys.ofProject, performing: [.createAPIKey], keys.create)
    table.inProject(
      ConsolePaths.keyRevocation, performing: RevokeAPIKey(keys: identity.apiKeys), parts.actions)
  }
}

extension ConsolePaths {
  static let keys = PoolPath0("settings", "keys")
  static let keyRevocation = Path(
    "projects", nil, "settings", "keys", nil, "revocation", parameters: String.self, String.self)
}
