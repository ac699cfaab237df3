import Crypto
@testable import Identity
import Testing

@testable import TestIdentity

/// Tests what ends a pending token of a provider sign-in before its 15 minutes are over.
struct PendingTokenTests {
  private static let ann = #""email":"ann@example.com","email_verified":true"#

  /// Returns the provider's assertion of a user, and a pending token for it.
  private func pending(
    _ instance: Instance
  ) async throws -> (assertion: ProviderAssertion, token: String) {
    let assertion = try await instance.assertion(
      TestTokenIssuer.back.token(Instance.claims(Self.ann)))
    return (
      assertion, try instance.identity.federation.pendingToken(assertion, in: instance.acme)
    )
  }

  @Test func `a pending token and an assertion end when the provider changes`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let (assertion, token) = try await pending(instance)
      let federation = instance.identity.federation
      instance.clock.advance(1)
      try await instance.identity.identityProviders.update(
        instance.acme, "oidc.acme", by: .program(Instance.boss)
      ) { (settings) throws(ProviderError) in settings.clientID = "client-2" }
      await expect("invalidResponse") {
        try await federation.assertion(instance.acme, pendingToken: token)
      }
      await expect("invalidResponse") {
        try await federation.signIn(
          instance.acme, assertion, mayCreate: true, by: Instance.visitor)
      }
      _ = try await instance.account(.alice)
      let alice = try await instance.session(.alice).session
      await expect("invalidResponse") {
        try await federation.link(alice, assertion, by: Instance.visitor)
      }
    }
  }

  @Test func `a provider that's deleted and added again doesn't accept earlier pending tokens`()
    async throws
  {
    try await withInstance { instance in
      try await instance.configureProvider()
      let (assertion, token) = try await pending(instance)
      let federation = instance.identity.federation
      instance.clock.advance(1)
      try await instance.identity.identityProviders.delete(
        instance.acme, "oidc.acme", by: .program(Instance.boss))
      await expect("providerNotFound") {
        try await federation.assertion(instance.acme, pendingToken: token)
      }
      await expect("providerNotFound") {
        try await federation.signIn(
          instance.acme, assertion, mayCreate: true, by: Instance.visitor)
      }
      try await instance.configureProvider()
      await expect("invalidResponse") {
        try await federation.assertion(instance.acme, pendingToken: token)
      }
    }
  }

  @Test func `a restore ends pending tokens of providers`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let (_, token) = try await pending(instance)
      instance.clock.advance(1)
      _ = try await instance.identity.federation.assertion(instance.acme, pendingToken: token)
      _ = try await instance.identity.endTheRestoredPast(
        file: "monday.sqlite", keepsSessions: true, former: nil, by: Author(actor: .commandLine))
      await expect("invalidPendingToken") {
        try await instance.identity.federation.assertion(instance.acme, pendingToken: token)
      }
    }
  }
}
