@testable import Identity
import Testing

@testable import TestIdentity

struct ExemptionTests {
  private func exempt(
    _ instance: Instance, _ account: Account, days: Int64 = 30, by agent: Agent
  ) async throws {
    _ = try await instance.identity.exemptions.grant(
      instance.acme, account.id, until: instance.now.advanced(bySeconds: days * 86_400),
      agent.request(.other, note: "Parental leave"))
  }

  @Test func `an exemption ends on its own`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let exemptions = instance.identity.exemptions
      #expect(try await exemptions.find(alice) == nil)
      try await exempt(instance, alice, days: 3, by: try await instance.agent("o", role: .owner))
      #expect(try await exemptions.find(alice) != nil)
      instance.clock.advance(3 * 86_400 - 1)
      #expect(try await exemptions.find(alice)?.note == "Parental leave")
      instance.clock.advance(1)
      #expect(try await exemptions.find(alice) == nil)
    }
  }

  @Test(arguments: Accounts.Sort.allCases)
  func `an exempt user isn't missing a second factor, and is listed as exempt until the end`(
    sort: Accounts.Sort
  ) async throws {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let agent = try await instance.agent("o", role: .owner)
      for account in [alice, bob] { try await exempt(instance, account, days: 3, by: agent) }
      let accounts = instance.identity.accounts
      func list(_ filter: Accounts.Filter) async throws -> Set<ID<Account>> {
        var (seen, after): ([ID<Account>], String?) = ([], nil)
        repeat {
          let page = try await accounts.list(
            instance.acme, filter: filter, sort: sort, after: after, limit: 1)
          seen += page.items.map(\.id)
          after = page.next
        } while after != nil
        #expect(seen.count == Set(seen).count)
        return Set(seen)
      }
      let (missing, exempt) = (try await list(.none), try await list(.exempt))
      #expect(missing.isEmpty && exempt == [alice.id, bob.id])
      let found = try await accounts.search(instance.acme, "alice", filter: .exempt)
      let hidden = try await accounts.search(instance.acme, "alice", filter: .none)
      #expect(found.accounts.map(\.id) == [alice.id] && hidden.accounts.isEmpty)
      instance.clock.advance(3 * 86_400)
      let (later, ended) = (try await list(.none), try await list(.exempt))
      #expect(later == [alice.id, bob.id] && ended.isEmpty)
    }
  }

  @Test func `a pool's exempt users are counted, and the ends are those of the users asked for`()
    async throws
  {
    try await withInstance { instance in
      let exemptions = instance.identity.exemptions
      let (alice, bob) = (try await instance.account(.alice), try await instance.enrolled(.bob))
      let agent = try await instance.agent("o", role: .owner)
      for account in [alice, bob.account] { try await exempt(instance, account, by: agent) }
      let end = instance.now.advanced(bySeconds: 30 * 86_400)
      #expect(
        try await exemptions.counts(in: instance.acme) == ExemptionCounts(all: 2, withoutFactor: 1))
      #expect(try await exemptions.counts(in: instance.east) == ExemptionCounts())
      #expect(try await exemptions.ends(of: [bob.account.key, 1]) == [bob.account.key: end])
      _ = try await exemptions.end(instance.acme, alice.id, agent.request())
      let keys = [alice.key, bob.account.key]
      #expect(try await exemptions.ends(of: keys) == [bob.account.key: end])
      #expect(
        try await exemptions.counts(in: instance.acme) == ExemptionCounts(all: 1, withoutFactor: 0))
      instance.clock.advance(30 * 86_400)
      #expect(try await exemptions.ends(of: keys) == [:])
    }
  }

  @Test func `the periods of exemptions are those of a pool, or of a project with its tenants`()
    async throws
  {
    try await withInstance { instance in
      let exemptions = instance.identity.exemptions
      let (alice, bob) = (
        try await instance.account(.alice), try await instance.account(.bob, in: instance.east)
      )
      let agent = try await instance.agent("o", role: .owner)
      let start = instance.now
      try await exempt(instance, alice, days: 3, by: agent)
      instance.clock.advance(86_400)
      let other = try await instance.agent("p", role: .owner)
      _ = try await exemptions.end(instance.acme, alice.id, other.request())
      let ended = instance.now
      _ = try await exemptions.grant(
        instance.east, bob.id, until: ended.advanced(bySeconds: 60),
        other.request(.other, note: "x"))
      func periods(isWhole: Bool, since: Instant) async throws -> [[Instant]] {
        try await exemptions.list(in: instance.acme, isWhole: isWhole, endingAfter: since)
          .map { [$0.grantedAt, $0.endsAt] }
          .sorted { $0[0] < $1[0] }
      }
      let later = [ended, ended.advanced(bySeconds: 60)]
      #expect(try await periods(isWhole: false, since: start) == [[start, ended]])
      #expect(try await periods(isWhole: true, since: start) == [[start, ended], later])
      #expect(try await periods(isWhole: true, since: ended) == [later])
      #expect(try await periods(isWhole: false, since: ended) == [])
    }
  }

  @Test func `an exempt user is enrolled only with a factor that the policy enables`() async throws
  {
    try await withInstance { instance in
      let (identity, alice) = (instance.identity, try await instance.account(.alice))
      try await exempt(instance, alice, by: try await instance.agent("o", role: .owner))
      func change(isSMSOn: Bool) async throws {
        _ = try await identity.policies.change(instance.acme, by: .program(Instance.boss)) {
          $0.configuration.setSMS(isSMSOn)
        }
      }
      try await change(isSMSOn: true)
      #expect(try await identity.exemptions.find(alice)?.hasFactor == false)
      try await instance.addPhone("phone", to: alice.id)
      var found = try #require(try await identity.exemptions.find(alice))
      #expect(found.hasFactor && found.isEnrolled)
      try await change(isSMSOn: false)
      found = try #require(try await identity.exemptions.find(alice))
      #expect(found.hasFactor && !found.isEnrolled)
    }
  }

  @Test func `an exemption lasts at most 30 days`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent("o", role: .owner)
      for days in [-1, 0, 31] as [Int64] {
        await expect("untilOutOfRange") {
          try await exempt(instance, alice, days: days, by: agent)
        }
      }
      try await exempt(instance, alice, days: 30, by: agent)
    }
  }

  @Test func `the grantor of an exemption can't renew it, but another administrator can`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let olga = try await instance.agent("olga", role: .owner)
      let exemptions = instance.identity.exemptions
      try await exempt(instance, alice, by: olga)
      await expect("ownExemption") { try await exempt(instance, alice, by: olga) }
      let otto = try await instance.agent("otto", role: .owner)
      try await exempt(instance, alice, days: 20, by: otto)
      #expect(try await exemptions.find(alice)?.grantorName == "otto")
      #expect(
        try await exemptions.list(visibleTo: olga.administrator).count == 1,
        "the renewal replaces the exemption")
      instance.clock.advance(45 * 86_400)
      let again = try await instance.agent("otto", role: .owner)
      #expect(
        try await exemptions.obstacle(
          for: again.administrator, to: alice, in: instance.acme) != nil,
        "it ended 25 days ago")
      instance.clock.advance(6 * 86_400)
      try await exempt(instance, alice, by: try await instance.agent("otto", role: .owner))
    }
  }

  @Test func `ending an exemption early doesn't let the same person grant the next`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let olga = try await instance.agent("olga", role: .owner)
      try await exempt(instance, alice, by: olga)
      _ = try await instance.identity.exemptions.end(instance.acme, alice.id, olga.request())
      #expect(try await instance.identity.exemptions.find(alice) == nil)
      await expect("ownExemption") { try await exempt(instance, alice, by: olga) }
      await expect("nothingToDo") {
        try await instance.identity.exemptions.end(instance.acme, alice.id, olga.request())
      }
    }
  }

  @Test func `a user who was deleted and created again isn't exempted by the same person`()
    async throws
  {
    try await withInstance { instance in
      var new = NewAccount()
      new.localID = "alice"
      let accounts = instance.identity.accounts
      let alice = try await accounts.create(instance.acme, new, by: .program(Instance.boss)).value
      let olga = try await instance.agent("olga", role: .owner)
      let exemptions = instance.identity.exemptions
      try await exempt(instance, alice, days: 7, by: olga)
      try await accounts.delete(instance.acme, alice.id, by: Instance.boss)
      let again = try await accounts.create(instance.acme, new, by: .program(Instance.boss)).value
      #expect(again.id == alice.id && again.key != alice.key)
      await expect("ownExemption") { try await exempt(instance, again, days: 7, by: olga) }
      #expect(
        try await exemptions.obstacle(for: olga.administrator, to: again, in: instance.acme) != nil)
      let elsewhere = try await accounts.create(instance.east, new, by: .program(Instance.boss))
        .value
      #expect(
        try await exemptions.obstacle(for: olga.administrator, to: elsewhere, in: instance.east)
          == nil)
      let otto = try await instance.agent("otto", role: .owner)
      try await exempt(instance, again, days: 7, by: otto)
      #expect(try await exemptions.find(again)?.grantorName == "otto")
    }
  }

  @Test func `an exempt user isn't counted among those whom a mandatory pattern affects`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let policies = instance.identity.policies
      func affected() async throws -> Int {
        try await policies.unenrolledUsers(try await policies.read(instance.acme)).required
      }
      #expect(try await affected() == 1)
      try await exempt(instance, alice, days: 2, by: try await instance.agent("o", role: .owner))
      #expect(try await affected() == 0)
      instance.clock.advance(2 * 86_400)
      #expect(try await affected() == 1)
    }
  }

  @Test(arguments: [Role.support, .policy, .auditor])
  func `other roles can't exempt users`(role: Role) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent("sam", role: role)
      await expect("notAllowed") { try await exempt(instance, alice, by: agent) }
    }
  }

  @Test func `exemptions are listed by end, for the pools that an administrator can search`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (
        try await instance.account(.alice), try await instance.account(.bob, in: instance.east)
      )
      let olga = try await instance.agent("olga", role: .owner)
      let exemptions = instance.identity.exemptions
      try await exempt(instance, alice, days: 20, by: olga)
      _ = try await exemptions.grant(
        instance.east, bob.id, until: instance.now.advanced(bySeconds: 86_400), olga.request())
      let all = try await exemptions.list(visibleTo: olga.administrator)
      #expect(all.map(\.account) == [bob.id, alice.id])
      #expect(
        try await exemptions.counts(in: instance.acme.project)
          == [nil: 1, instance.east.tenant: 1])
      let east = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [
          Grant(role: .support, project: instance.acme.project, tenant: instance.east.tenant)
        ])
      #expect(try await exemptions.list(visibleTo: east).map(\.account) == [bob.id])
      let globex = instance.globex.project
      #expect(try await exemptions.list(in: globex, visibleTo: olga.administrator).isEmpty)
      let pools = [instance.acme.key, instance.east.key, instance.globex.key]
      #expect(
        try await exemptions.counts(of: pools) == [instance.acme.key: 1, instance.east.key: 1])
      instance.clock.advance(86_400)
      #expect(try await exemptions.counts(of: pools) == [instance.acme.key: 1])
      #expect(try await exemptions.counts(of: []).isEmpty)
    }
  }
}
