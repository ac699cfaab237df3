import Crypto
import Identity
import Testing

@testable import TestIdentity

/// What is sent to addresses that nobody verified, and that may so belong to anyone.
struct UnverifiedAddressTests {
  private static let stranger = "stranger@example.com"

  private func update(
    _ account: Account, _ instance: Instance, _ edit: (inout AccountChange) -> Void
  ) async throws {
    var change = AccountChange()
    edit(&change)
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
  }

  /// Adds and removes a phone, which all addresses are notified of.
  private func addPhones(_ count: Int, to account: Account, _ instance: Instance) async throws {
    for _ in 0..<count {
      try await instance.addPhone("phone", to: account.id)
      try await update(account, instance) { $0.factors = .clear }
    }
  }

  private func recipients(_ purpose: String, _ instance: Instance) async throws -> [String: Int] {
    try await instance.mails(purpose).map(\.recipient).tally
  }

  @Test func `an address that was never verified gets one notice, ever`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice, isVerified: false)
      for _ in 0..<3 {
        try await update(alice, instance) { $0.password = .set(Secret("another password")) }
        instance.clock.advance(86_400)
      }
      #expect(try await recipients("notice-password-changed", instance) == [alice.label: 1])
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      #expect(try await recipients("notice-account-deleted", instance) == [:])
      // Another account has a separate notice.
      let other = try await instance.account(.alice, isVerified: false)
      try await update(other, instance) { $0.password = .set(Secret("another password")) }
      #expect(try await recipients("notice-password-changed", instance) == [alice.label: 2])
      // Once it's verified, it gets all of them.
      try await update(other, instance) { $0.emailVerified = true }
      for _ in 0..<2 {
        try await update(other, instance) { $0.password = .set(Secret("another password")) }
      }
      #expect(try await recipients("notice-password-changed", instance) == [alice.label: 4])
    }
  }

  @Test(arguments: [false, true])
  func `an address at a provider gets all notices only if the provider verified it`(
    isVerified: Bool
  ) async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""email":"\#(Self.stranger)","email_verified":\#(isVerified)"#)))
      _ = try await instance.identity.federation.link(session, assertion, by: Instance.visitor)
      try await addPhones(3, to: alice, instance)
      let added = try await recipients("notice-factors-added", instance)
      #expect(added == [Person.alice.email: 3, Self.stranger: isVerified ? 3 : 1])
    }
  }

  @Test(arguments: [false, true])
  func `a former address gets all notices only if it was verified before the change`(
    isVerified: Bool
  ) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice, isVerified: isVerified)
      let session = try await instance.session(.alice).session
      var change = AccountChange()
      change.email = .set("new@example.com")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Author(actor: .user(alice.id)), in: session)
      #expect(try await recipients("recover-email", instance) == [Person.alice.email: 1])
      try await update(alice, instance) { $0.emailVerified = true }
      try await addPhones(2, to: alice, instance)
      let added = try await recipients("notice-factors-added", instance)
      #expect(
        added == ["new@example.com": 2].merging(isVerified ? [Person.alice.email: 2] : [:]) { $1 })
    }
  }
}
