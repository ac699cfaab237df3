import Crypto
import Database
import DatabaseSQLite
import Testing

@testable import Identity

struct AnonymousAccountTests {
  private func guest(_ instance: Instance, in scope: Scope? = nil) async throws -> Account {
    try await instance.identity.signIns.signUp(
      scope ?? instance.acme, NewAccount(), by: Instance.visitor
    ).account
  }

  private func switchOn(_ instance: Instance) async throws {
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: Instance.boss
    ) {
      $0.signIn.anonymous = true
      $0.project?.expiresAnonymous = true
    }
  }

  @Test func `guests go after 30 days, and nobody else`() async throws {
    try await withInstance { instance in
      try await switchOn(instance)
      let east = try #require(instance.east.tenant)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, tenant: east, by: Instance.boss
      ) { $0.signIn.anonymous = true }
      let old = try await guest(instance)
      let other = try await guest(instance, in: instance.east)
      let alice = try await instance.account(.alice)
      let settled = try await guest(instance)
      var change = AccountChange()
      change.email = .set("settled@example.com")
      try await instance.identity.accounts.update(
        instance.acme, settled.id, change, by: Instance.boss)
      instance.clock.advance(AnonymousAccounts.lifetime)
      let young = try await guest(instance)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, old.id) != nil)
      instance.clock.advance(1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, old.id) == nil)
      for account in [alice, settled, young] {
        #expect(try await instance.identity.accounts.find(instance.acme, account.id) != nil)
      }
      #expect(try await instance.identity.accounts.find(instance.east, other.id) != nil)
      let row = try #require(try await instance.log().first)
      #expect((row.action, row.actorKind) == (.accountExpire, "server"))
      #expect(row.old(.users) == .number(1))
    }
  }

  @Test func `many guests go in parts`() async throws {
    try await withInstance { instance in
      try await switchOn(instance)
      for _ in 0..<(AnonymousAccounts.share + 5) { _ = try await guest(instance) }
      instance.clock.advance(AnonymousAccounts.lifetime + 1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.list(instance.acme).items.isEmpty)
      let rows = try await instance.log().filter { $0.action == .accountExpire }
      #expect(rows.count == 2)
    }
  }

  @Test func `nothing goes where nobody wants it`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: Instance.boss
      ) { $0.signIn.anonymous = true }
      let account = try await guest(instance)
      instance.clock.advance(10 * AnonymousAccounts.lifetime)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.accounts.find(instance.acme, account.id) != nil)
    }
  }
}
