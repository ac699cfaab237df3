import Identity
import OpenIDConnect

extension Demo {
  /// Adds a custom token signing key and an identity provider for staff sign-in to a project.
  func trust(in project: UserPool, _ staff: DemoStaff) async throws {
    let author = staff.author(staff.owner, random)
    let key = data.publicKey.joined(separator: "\n")
    let host = "\(project.scope.project).example.com"
    _ = try await identity.trustedTokenKeys.add(
      to: project.scope.project, issuer: "back-end@\(host)", keyID: "2026-1", key: key,
      by: author)
    var settings = ProviderSettings()
    settings.displayName = "\(project.displayName) staff"
    settings.isEnabled = true
    settings.issuer = "https://login.\(host)"
    settings.clientID = "countersign-demo"
    settings.keys = try KeySet(key)
    try await identity.identityProviders.create(
      in: project.scope, id: "oidc.staff", settings, by: author)
  }
}
