import Crypto
import Identity
import OpenIDConnect

/// An OpenID Connect provider that the tests sign in with.
extension Instance {
  /// Creates the provider in a pool.
  func configureProvider(in pool: Pool? = nil) async throws {
    try await identity.identityProviders.create(
      in: pool ?? acme, id: "oidc.acme", .oidc(), by: .program(Self.boss))
  }

  /// Returns the claims of an ID token issued at noon, without some members and with others added.
  static func claims(_ members: String = "", without: [String] = []) -> String {
    let noon = FixedClock.noon.seconds
    return TestTokenIssuer.object(
      [
        ("iss", #""https://login.acme.example""#), ("aud", #""client-1""#),
        ("sub", #""user-1""#), ("iat", "\(noon)"), ("exp", "\(noon + 600)"),
      ], without: without, and: members)
  }

  /// Returns the verified assertion of the provider's token.
  func assertion(
    _ token: String, provider: String = "oidc.acme", nonce: String? = nil, in pool: Pool? = nil
  ) async throws -> ProviderAssertion {
    try await identity.federation.assertion(
      pool ?? acme, provider: provider, idToken: token, nonce: nonce)
  }

  /// Signs in with the provider's token.
  func signIn(
    withProviderSaying members: String, mayCreate: Bool = true
  ) async throws -> FederatedSignIn {
    let assertion = try await assertion(try TestTokenIssuer.back.token(Self.claims(members)))
    return try await identity.federation.signIn(
      acme, assertion, mayCreate: mayCreate, by: Self.visitor)
  }
}

extension FederatedSignIn {
  /// Returns the outcome and the account of a sign-in that requires no confirmation.
  func signedIn() throws -> (outcome: SignInOutcome, federated: FederatedAccount) {
    guard case .account(let outcome, let account) = self else {
      throw Unexpected("a confirmation is required")
    }
    return (outcome, account)
  }
}

extension ProviderSettings {
  /// Returns the settings of a provider whose tokens an issuer signs.
  static func oidc(_ tokenIssuer: TestTokenIssuer = .back) throws -> ProviderSettings {
    var settings = ProviderSettings()
    settings.displayName = "Acme login"
    settings.isEnabled = true
    settings.issuer = "https://login.acme.example"
    settings.clientID = "client-1"
    settings.keys = try KeySet(tokenIssuer.keySet())
    settings.clientSecret = Secret("not for everybody")
    return settings
  }
}
