import HTTP
import Identity

enum TrustedTokenKeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let trustedTokenKeys = TrustedTokenKeysPage(
      identity: identity, actions: parts.actions,
      view: try parts.template(
        "trusted-token-keys/trusted-token-keys", for: TrustedTokenKeysView.self),
      revocation: try parts.template("keys/revocation", for: KeyRevocationView.self))
    table.inProject(.get, ConsolePaths.trustedTokenKeys, .readPolicy, trustedTokenKeys.show)
    table.inProject(
      .get, ConsolePaths.trustedTokenKeyRevocation, .manageTrust, trustedTokenKeys.ask)
    table.inProject(
      ConsolePaths.trustedTokenKeyRevocation, performing: [.revokeTokenSigningKey],
      trustedTokenKeys.revoke)

    let newTrustedTokenKey = NewTrustedTokenKeyPage(
      trustedTokenKeys: identity.trustedTokenKeys, actions: parts.actions,
      view: try parts.template("trusted-token-keys/new", for: NewTrustedTokenKeyView.self))
    table.inProject(.get, ConsolePaths.newTrustedTokenKey, .manageTrust, newTrustedTokenKey.show)
    table.inProject(
      ConsolePaths.newTrustedTokenKey, performing: [.registerTokenSigningKey],
      newTrustedTokenKey.register)
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
