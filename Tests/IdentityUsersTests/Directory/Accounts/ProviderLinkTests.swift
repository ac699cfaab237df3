import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

struct ProviderLinkTests {
  private static let google = ProviderLink(
    provider: "google.com", rawID: "1001", email: "alice@gmail.com", displayName: "Alice",
    photoURL: "")

  private func linked(_ instance: Instance, _ link: ProviderLink = google) async throws -> Account {
    let alice = try await instance.account(.alice)
    var change = AccountChange()
    change.link = link
    return try await instance.identity.accounts.update(
      instance.acme, alice.id, change, by: Instance.boss)
  }

  @Test func `a provider identity is linked, found by its ID, and the user is notified`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await linked(instance)
      #expect(alice.providers == [Self.google])
      #expect(alice.providers.first?.photoURL == nil)
      let found = try await instance.identity.accounts.lookup(
        instance.acme,
        federated: [("google.com", "1001"), ("google.com", "1002"), ("oidc.acme", "1001")])
      #expect(found.map(\.id) == [alice.id])
      #expect(found.first?.providers == [Self.google])
      let elsewhere = try await instance.identity.accounts.lookup(
        instance.east, federated: [("google.com", "1001")])
      #expect(elsewhere.isEmpty)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountChange)
      #expect(row.old(.providers) == .absent)
      #expect(row.new(.providers) == .list(["google.com (1001)"]))
      let mails = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ purpose, recipient FROM outbox") { row in
          [try row.next() as String, try row.next() as String]
        }
      }
      #expect(mails == [["notice-provider-linked", "alice@example.com"]])
    }
  }

  @Test func `another identity of the same provider replaces the linked one`() async throws {
    try await withInstance { instance in
      let alice = try await linked(instance)
      var change = AccountChange()
      change.link = ProviderLink(provider: "google.com", rawID: "2002")
      let account = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(account.providers.map(\.rawID) == ["2002"])
      let old = try await instance.identity.accounts.lookup(
        instance.acme, federated: [("google.com", "1001")])
      #expect(old.isEmpty)
    }
  }

  @Test func `an identity is linked to one account per pool`() async throws {
    try await withInstance { instance in
      _ = try await linked(instance)
      let bob = try await instance.account(.bob)
      var change = AccountChange()
      change.link = Self.google
      change.displayName = .set("Bob")
      let taken = change
      await expect("federatedIDAlreadyLinked") {
        try await instance.identity.accounts.update(
          instance.acme, bob.id, taken, by: Instance.boss)
      }
      #expect(try await instance.reload(bob).displayName == nil)
      // The same identity can be linked in a different pool.
      let east = try await instance.account(.bob, in: instance.east)
      let there = try await instance.identity.accounts.update(
        instance.east, east.id, taken, by: Instance.boss)
      #expect(there.providers == [Self.google])
    }
  }

  @Test func `identities are unlinked individually and all at once`() async throws {
    try await withInstance { instance in
      let alice = try await linked(instance)
      var second = AccountChange()
      second.link = ProviderLink(provider: "oidc.acme", rawID: "a")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, second, by: Instance.boss)
      var one = AccountChange()
      one.unlinked = ["google.com", "facebook.com"]
      let remaining = try await instance.identity.accounts.update(
        instance.acme, alice.id, one, by: Instance.boss)
      #expect(remaining.providers.map(\.provider) == ["oidc.acme"])
      var all = AccountChange()
      all.unlinksAll = true
      let none = try await instance.identity.accounts.update(
        instance.acme, alice.id, all, by: Instance.boss)
      #expect(none.providers.isEmpty)
    }
  }

  @Test func `deleting an account frees its identities`() async throws {
    try await withInstance { instance in
      let alice = try await linked(instance)
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      let bob = try await instance.account(.bob)
      var change = AccountChange()
      change.link = Self.google
      let account = try await instance.identity.accounts.update(
        instance.acme, bob.id, change, by: Instance.boss)
      #expect(account.providers == [Self.google])
    }
  }

  @Test func `an account can be created with linked identities`() async throws {
    try await withInstance { instance in
      var new = NewAccount()
      new.providers = [Self.google, ProviderLink(provider: "oidc.acme", rawID: "a")]
      let account = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      #expect(account.providers == new.providers)
      #expect(account.isAnonymous == false)
    }
  }

  @Test(arguments: [
    ("password", "1", "invalidProvider"), ("phone", "1", "invalidProvider"),
    ("", "1", "invalidProvider"), ("two words", "1", "invalidProvider"),
    ("göögle.com", "1", "invalidProvider"),
    (String(repeating: "x", count: 129), "1", "invalidProvider"),
    ("google.com", "", "invalidRawID"), ("google.com", "a\u{0}b", "invalidRawID"),
    ("google.com", String(repeating: "1", count: 513), "invalidRawID"),
    ("google.com", String(repeating: "1", count: 512), "done"),
  ])
  func `an invalid identity is rejected`(provider: String, rawID: String, result: String)
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      await expect(result) {
        var change = AccountChange()
        change.link = ProviderLink(provider: provider, rawID: rawID)
        return try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Instance.boss)
      }
    }
  }
}
