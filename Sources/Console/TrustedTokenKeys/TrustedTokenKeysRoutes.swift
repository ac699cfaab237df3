import HTTP
import Identity

/// Custom token signing keys.
enum TrustedTokenKeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let signers = TrustedTokenKeysPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("trusted-token-keys/signers", for: TrustedTokenKeysView.self),
      revocation: try parts.template(
        "trusted-token-keys/revocation", for: TrustedTokenKeyRevocationView.self))
    table.inProject(.get, ConsolePaths.signers, .readPolicy, signers.show)
    table.inProject(.get, ConsolePaths.signerRevocation, .manageTrust, signers.ask)
    table.inProject(
      ConsolePaths.signerRevocation, performing: [.revokeTokenSigningKey], signers.revoke)

    let newTrustedTokenKey = NewTrustedTokenKeyPage(
      signers: identity.signers, actions: parts.actions,
      view: try parts.template("trusted-token-keys/new", for: NewTrustedTokenKeyView.self))
    table.inProject(.get, ConsolePaths.newTrustedTokenKey, .manageTrust, newTrustedTokenKey.show)
    table.inProject(
      ConsolePaths.newTrustedTokenKey, performing: [.registerTokenSigningKey],
      newTrustedTokenKey.register)
  }
}
