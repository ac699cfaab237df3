import Identity
import OpenIDConnect

extension World {
  /// Adds an identity provider to the tenant eu-shop and a custom token signing key to the project.
  func trust() async throws {
    let author = Author(actor: .commandLine)
    var settings = ProviderSettings()
    settings.displayName = "Acme staff"
    settings.isEnabled = true
    settings.issuer = "https://login.acme.example"
    settings.clientID = "client-1"
    settings.keys = try KeySet(Self.publicKey)
    try await identity.identityProviders.create(
      in: try await euPool, id: "oidc.staff", settings, by: .program(author))
    _ = try await identity.trustedTokenKeys.add(
      to: ID("acme-retail"), issuer: "back-end@acme.example", keyID: "2026-1",
      key: Self.publicKey, by: .program(author))
  }

  /// The ID of the project's only custom token signing key.
  func signer() async throws -> String {
    try await identity.trustedTokenKeys.list(ID("acme-retail")).first?.id.text ?? ""
  }

  /// A public key without a stored private key.
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2LbW4mur4Y63W4UUce8H
    KB/FuWicRKy5/kAtqvWRYGFQcA2JLZlLPNSvbnmmT9Tf47gBm23n/9zHujsjOUCz
    b9+cCnG5j4bdqLF3LrT7s272+WxFnlZ5SAcaUo1meAGuFnCAbZOyvnzHp3lyac/Y
    WZ1MYgn/OD18ox2TVYORt9VOZ7ojT4h6wmw+pHRKX450hHZqPX7mJjegodSUgwhV
    6IGX2T8V7Xe+CfypDh4JLiM9t4OkQt2dVY4TxdPZKuWHP07whggUkWx4zx/Fd1yM
    g4WkLtI1Dvhs/hF/5eGWtmiWc3283EH+lo23+qCj3FDHxOFb0aqYLwKjhO1nlcLZ
    8wIDAQAB
    -----END PUBLIC KEY-----
    """
}
