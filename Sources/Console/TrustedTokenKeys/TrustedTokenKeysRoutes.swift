import HTTP
import Identity

enum TrustedTokenKeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let list = TrustedTokenKeysPage(
      identity: identity, frames: parts.frames,
      view: try parts.template(
        "trusted-token-keys/trusted-token-keys", for: TrustedTokenKeysView.self))
    table.inProject(.get, ConsolePaths.trustedTokenKeys, .readPolicy, list.show)
    let keys = identity.trustedTokenKeys
    table.inProject(
      ConsolePaths.trustedTokenKeyRevocation, performing: RevokeTrustedTokenKey(keys: keys),
      parts.actions)
    table.inProject(
      ConsolePaths.newTrustedTokenKey, performing: RegisterTrustedTokenKey(keys: keys),
      parts.actions)
  }
}

extension ConsolePaths {
  static let trustedTokenKeys = Path(
    "projects", nil, "settings", "custom-token-keys", parameters: String.self)
  static let newTrustedTokenKey = Path(
    "projects", nil, "settings", "custom-token-keys", "new", parameters: String.self)
  static let trustedTokenKeyRevocation = Path(
    "projects", nil, "settings", "custom-token-keys", nil, "revocation", parameters: String.self,
    String.self)
}
