import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What remains of reading through the users of a pool in the console.
struct ShownUsersTests {
  private func show(
    _ count: Int, of pool: Pool, by author: Author = Instance.support, _ identity: Identity
  ) async throws {
    try await identity.accounts.recordShown(
      .pools([DownloadedUsers.PoolCount(pool, count: count)]), by: author)
  }

  private func entries(_ instance: Instance) async throws -> [AuditRow] {
    try await instance.wholeLog().filter { $0.action == .accountList }
  }

  @Test func `each hour leaves one entry for each administrator and pool, on whatever node`()
    async throws
  {
    try await withInstance { instance in
      let other = try instance.identity()
      try await other.prepare()
      let (acme, east) = (instance.acme, instance.east)
      for _ in 0..<3 { try await show(50, of: acme, instance.identity) }
      try await show(7, of: acme, other)
      try await show(0, of: instance.west, other)
      try await show(5, of: acme, by: Instance.boss, other)
      try await show(2, of: east, other)
      // Programs have other limits.
      try await show(9, of: acme, by: Author(actor: .commandLine), other)
      try await instance.identity.purgeExpired()
      #expect(try await entries(instance).isEmpty)
      instance.clock.advance(3_600)
      try await show(1, of: acme, other)
      // As after a restart.
      try await other.purgeExpired()
      try await instance.identity.purgeExpired()
      let rows = try await entries(instance)
      func number(_ pool: Pool, _ reader: String) -> AuditValue? {
        rows.first { $0.objectID == pool.objectID && $0.actorID == reader }?.new(.users)
      }
      #expect(number(acme, "desk") == .number(157))
      #expect(number(acme, "boss") == .number(5))
      #expect(number(east, "desk") == .number(2))
      #expect(rows.count == 3 && rows.allSatisfy { $0.project == acme.project })
      #expect(rows.allSatisfy { $0.new(.time) == .instant(FixedClock.noon) })
      #expect(rows.allSatisfy { $0.fields == [.users, .time] })
      instance.clock.advance(3_600)
      try await instance.identity.purgeExpired()
      #expect(try await entries(instance).count == 4)
    }
  }

  @Test func `above 1,000 users in an hour, owners are told at once, and once`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.agent("olga", role: .owner)
      let (acme, identity) = (instance.acme, instance.identity)
      for _ in 0..<20 { try await show(50, of: acme, identity) }
      #expect(try await instance.mails("alert-users-shown").isEmpty)
      try await show(1, of: acme, identity)
      try await show(500, of: acme, identity)
      let mails = try await instance.mails("alert-users-shown")
      #expect(mails.count == 1)
      let body = mails.first?.body ?? ""
      #expect(body.contains("Dora Support") && body.contains("1,001 users"))
      instance.clock.advance(3_600)
      try await show(1_001, of: acme, identity)
      #expect(try await instance.mails("alert-users-shown").count == 2)
    }
  }

  @Test func `while nothing can be written, lists are shown, and counted later`() async throws {
    try await withInstance { instance in
      let (acme, identity) = (instance.acme, instance.identity)
      identity.setUsable(false)
      try await show(3, of: acme, identity)
      try await show(4, of: acme, by: Instance.boss, identity)
      identity.setUsable(true)
      try await show(2, of: acme, identity)
      instance.clock.advance(3_600)
      try await identity.purgeExpired()
      let rows = try await entries(instance)
      #expect(Set(rows.map { $0.new(.users) }) == [.number(5), .number(4)])
    }
  }

  @Test func `an entry is written of a pool that was deleted meanwhile`() async throws {
    try await withInstance { instance in
      try await show(3, of: instance.east, instance.identity)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      instance.clock.advance(3_600)
      try await instance.identity.purgeExpired()
      #expect(try await entries(instance).map(\.objectID) == [instance.east.objectID])
    }
  }
}
