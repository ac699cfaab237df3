import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct AnonymousAccountTests {
  private func anonymousUser(
    _ instance: Instance, in pool: Pool? = nil, from address: String = "203.0.113.5"
  ) async throws -> Account {
    try await instance.identity.signIns.signUp(
      pool ?? instance.acme, NewAccount(),
      by: Author(actor: .visitor, address: address, requestID: "request-3")
    ).account
  }

  private func enableExpiration(_ instance: Instance) async throws {
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: .program(Instance.boss)
    ) {
      $0.signIn.anonymous = true
      $0.project?.expiresAnonymous = true
    }
  }

  @Test func `only anonymous accounts are deleted after 30 days`() async throws {
    try await withInstance { instance in
      try await enableExpiration(instance)
      let east = try #require(instance.east.tenant)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, tenant: east, by: .program(Instance.boss)
      ) { $0.signIn.anonymous = true }
      let old = try await anonymousUser(instance)
      let other = try await anonymousUser(instance, in: instance.east)
      let alice = try await instance.account(.alice)
      let upgraded = try await anonymousUser(instance)
      var change = AccountChange()
      change.email = .set("settled@example.com")
      try await instance.identity.accounts.update(
        instance.acme, upgraded.id, change, by: Instance.boss)
      instance.clock.advance(AnonymousAccounts.lifetime)
      let recent = try await anonymousUser(instance)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, old.id) != nil)
      instance.clock.advance(1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, old.id) == nil)
      for account in [alice, upgraded, recent] {
        #expect(try await instance.identity.accounts.find(instance.acme, account.id) != nil)
      }
      #expect(try await instance.identity.accounts.find(instance.east, other.id) != nil)
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.actorKind) == (.accountExpire, "server"))
      #expect(row.old(.users) == .number(1))
    }
  }

  @Test func `expired anonymous accounts are deleted in batches`() async throws {
    try await withInstance { instance in
      try await enableExpiration(instance)
      for number in 0..<(AnonymousAccounts.share + 5) {
        _ = try await anonymousUser(instance, from: "203.0.\(number % 250).5")
      }
      instance.clock.advance(AnonymousAccounts.lifetime + 1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.list(instance.acme).items.isEmpty)
      let rows = try await instance.log().filter { $0.action == .accountExpire }
      #expect(rows.count == 2)
    }
  }

  @Test func `no anonymous account is deleted while expiration is off`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.anonymous = true }
      let account = try await anonymousUser(instance)
      instance.clock.advance(10 * AnonymousAccounts.lifetime)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, account.id) != nil)
    }
  }
}
