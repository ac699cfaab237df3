import Identity
import OpenIDConnect

extension Demo {
  /// Adds a custom token signing key and an identity provider for staff sign-in to a project.
  func trust(in project: UserPool, _ staff: DemoStaff) async throws {
    let author = staff.author(staff.owner, random)
    let host = "\(project.scope.project).example.com"
    _ = try await identity.trustedTokenKeys.add(
      to: project.scope.project, issuer: "back-end@\(host)", keyID: "2026-1", key: Self.publicKey,
      by: author)
    var settings = ProviderSettings()
    settings.displayName = "\(project.displayName) staff"
    settings.isEnabled = true
    settings.issuer = "https://login.\(host)"
    settings.clientID = "countersign-demo"
    settings.keys = try KeySet(Self.publicKey)
    try await identity.identityProviders.create(
      in: project.scope, id: "oidc.staff", settings, by: author)
  }

  /// A key whose private key was discarded.
  private static let publicKey = """
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
