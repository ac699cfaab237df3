import Identity
import Testing

@testable import TestIdentity

/// An account has one identity of a provider.
struct OneIdentityTests {
  private static let alice = #""email":"alice@example.com","email_verified":true"#

  @Test func `an identity isn't replaced by another one of its provider`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let federation = instance.identity.federation
      let first = try await instance.signIn(withProviderSaying: Self.alice).signedIn()
      guard case .signedIn(let grant) = first.outcome else { throw Unexpected("not signed in") }
      let second = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""sub":"user-2","email":"other@example.com""#, without: ["sub"])))
      await expect("providerAlreadyLinked") {
        try await federation.link(grant.session, second, by: Instance.visitor)
      }
      // The identity still signs in to the account, and the other one is free.
      let again = try await instance.signIn(withProviderSaying: Self.alice).signedIn().federated
      #expect(again.account.id == first.federated.account.id && !again.isNew)
      let other = try await federation.signIn(
        instance.acme, second, mayCreate: true, by: Instance.visitor
      ).signedIn().federated
      #expect(other.isNew)
      // An identity that another account has is refused for that reason only without one of one's own.
      let bob = try await instance.account(.bob)
      await expect("alreadyLinked") {
        try await federation.link(
          try await instance.session(.bob).session, second, by: Instance.visitor)
      }
      #expect(try await instance.reload(bob).providers.isEmpty)
    }
  }
}
