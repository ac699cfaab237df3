import Crypto
import Identity

extension UseCase {
  static let federation: [UseCase] = [
    UseCase("register a custom token signing key", [.trustedTokenKeyAdd]) { i in
      {
        _ = try await i.identity.trustedTokenKeys.add(
          to: i.acme.project, issuer: "a@b.example", keyID: nil, key: TestTokenIssuer.back.pem(),
          by: .program(Instance.boss))
      }
    },
    UseCase("revoke a custom token signing key", [.trustedTokenKeyRevoke]) { i in
      let signer = try await i.identity.trustedTokenKeys.add(
        to: i.acme.project, issuer: "a@b.example", keyID: nil, key: TestTokenIssuer.back.pem(),
        by: .program(Instance.boss)
      ).value
      return {
        try await i.identity.trustedTokenKeys.revoke(
          signer.id, of: i.acme.project, by: .program(Instance.boss))
      }
    },
    UseCase("add an identity provider", [.providerCreate]) { i in
      { try await i.configureProvider() }
    },
    UseCase("change an identity provider", [.providerChange]) { i in
      try await i.configureProvider()
      return {
        try await i.identity.identityProviders.update(
          i.acme, "oidc.acme", by: .program(Instance.boss)
        ) {
          (settings) throws(ProviderError) in settings.displayName = "Other"
        }
      }
    },
    UseCase("remove an identity provider", [.providerDelete]) { i in
      try await i.configureProvider()
      return {
        try await i.identity.identityProviders.delete(
          i.acme, "oidc.acme", by: .program(Instance.boss))
      }
    },
    UseCase("link a provider identity to a user", [.accountChange]) { i in
      let alice = try await i.account(.alice)
      return {
        var change = AccountChange()
        change.link = ProviderLink(provider: "google.com", rawID: "1")
        _ = try await i.identity.accounts.update(i.acme, alice.id, change, by: Instance.boss)
      }
    },
    UseCase("sign up through an identity provider", [.accountSignUp]) { i in
      try await i.configureProvider()
      return { _ = try await i.signIn(withProviderSaying: "") }
    },
    UseCase("link an account by its verified email", [.accountChange]) { i in
      try await i.configureProvider()
      _ = try await i.account(.alice)
      return {
        _ = try await i.signIn(
          withProviderSaying: #""email":"alice@example.com","email_verified":true"#)
      }
    },
    UseCase("sign in again through an identity provider", []) { i in
      try await i.configureProvider()
      _ = try await i.signIn(withProviderSaying: "")
      return { _ = try await i.signIn(withProviderSaying: "") }
    },
  ]
}
