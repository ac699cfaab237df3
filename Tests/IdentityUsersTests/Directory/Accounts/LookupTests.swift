import Identity
import Testing

@testable import TestIdentity

struct AccountLookupTests {
  @Test func `lookup by UID, email, and phone number returns each account once`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      let alice = try await instance.account(.alice)
      var new = NewAccount()
      new.phoneNumber = "+4912345678"
      let bob = try await accounts.create(instance.acme, new, by: .program(Instance.boss)).value
      let found = try await accounts.lookup(
        instance.acme, ids: [alice.id.text, "nobody"],
        emails: ["ALICE@Example.com", "nobody@example.com"], phoneNumbers: ["+4912345678", "+1"])
      #expect(found.map(\.id) == [alice.id, bob.id])
      #expect(try await accounts.find(instance.acme, alice.id)?.email == "alice@example.com")
    }
  }

  @Test func `a UID is looked up byte for byte`() async throws {
    try await withInstance { instance in
      var new = NewAccount()
      new.localID = "Ünï'; DROP TABLE account; --%_"
      let account = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss)
      ).value
      #expect(try await instance.identity.accounts.find(instance.acme, account.id) != nil)
      let lower = ID<Account>("ünï'; drop table account; --%_")
      #expect(try await instance.identity.accounts.find(instance.acme, lower) == nil)
      let decomposed = ID<Account>("U\u{308}ni\u{308}'; DROP TABLE account; --%_")
      #expect(try await instance.identity.accounts.find(instance.acme, decomposed) == nil)
    }
  }

  @Test func `an account includes its second factors, oldest first`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let account = try await instance.reload(device.account)
      #expect(account.factors.map(\.label) == ["phone", "second phone"])
      #expect(account.factors.first?.id == device.factor)
      #expect(account.factors.first?.kind == .totp)
      #expect(account.factors.first?.lastUsedAt == nil)
    }
  }
}
