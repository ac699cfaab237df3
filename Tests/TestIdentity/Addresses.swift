import Database
import Testing

@testable import Identity

extension Instance {
  /// Gives an account an earlier address and addresses from providers.
  func addAddresses(to account: Account) async throws {
    try await setInitialEmail("First@example.com", of: account)
    for (provider, email) in [
      ("google.com", "alice@provider.example"), ("oidc.a", "ALICE@example.com"),
      ("oidc.b", "x@y\r\nBcc: mallory@example.com"), ("oidc.c", "no address"),
    ] {
      var change = AccountChange()
      change.link = ProviderLink(provider: provider, rawID: account.id.text, email: email)
      try await identity.accounts.update(acme, account.id, change, by: Self.boss)
    }
  }

  /// Gives an account an earlier address, as a change by the user does.
  func setInitialEmail(_ email: String, of account: Account) async throws {
    var change = AccountChange()
    change.keepsEmailVerified = true
    change.email = .set(email)
    try await identity.accounts.update(acme, account.id, change, by: Self.boss)
    let (old, store, pool, now) = (try await reload(account), identity.store, acme, now)
    try await database.write { connection in
      try store.offerRecovery(of: old, now: account.email, in: pool, at: now, connection)
    }
    change.email = .set(try #require(account.email))
    try await identity.accounts.update(acme, account.id, change, by: Self.boss)
  }
}
