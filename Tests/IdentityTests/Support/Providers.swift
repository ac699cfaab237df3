import Crypto
import Identity

/// A provider of OpenID Connect that the tests sign in with.
extension Instance {
  /// Makes it in a scope.
  func configureProvider(in scope: Scope? = nil) async throws {
    try await identity.identityProviders.create(
      in: scope ?? acme, id: "oidc.acme", IdentityProviderTests.oidc(), by: Self.boss)
  }

  /// The claims of an ID token at noon, with members in place of others or added to them.
  static func claims(_ members: String = "", without: [String] = []) -> String {
    let noon = FixedClock.noon.seconds
    return TestTokenIssuer.object(
      [
        ("iss", #""https://login.acme.example""#), ("aud", #""client-1""#),
        ("sub", #""user-1""#), ("iat", "\(noon)"), ("exp", "\(noon + 600)"),
      ], without: without, and: members)
  }

  /// What the provider's token says.
  func assertion(
    _ token: String, provider: String = "oidc.acme", nonce: String? = nil, in scope: Scope? = nil
  ) async throws -> ProviderAssertion {
    try await identity.federation.assertion(
      scope ?? acme, provider: provider, idToken: token, nonce: nonce)
  }

  /// Signs in with the provider's word.
  func signIn(
    withProviderSaying members: String, mayCreate: Bool = true
  ) async throws -> FederatedSignIn {
    let assertion = try await assertion(try TestTokenIssuer.back.token(Self.claims(members)))
    return try await identity.federation.signIn(
      acme, assertion, mayCreate: mayCreate, by: Self.visitor)
  }
}

extension FederatedSignIn {
  /// The account, where no confirmation is asked for.
  func signedIn() throws -> (outcome: SignInOutcome, federated: FederatedAccount) {
    guard case .account(let outcome, let account) = self else {
      throw Unexpected("a confirmation is needed")
    }
    return (outcome, account)
  }
}
