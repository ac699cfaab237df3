@testable import Identity
import Testing

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
      #expect(try await !exemptions.isExempt(alice, at: instance.now))
      try await exempt(instance, alice, days: 3, by: try await instance.agent("o", role: .owner))
      #expect(try await exemptions.isExempt(alice, at: instance.now))
      instance.clock.advance(3 * 86_400 - 1)
      #expect(try await exemptions.find(alice)?.note == "Parental leave")
      instance.clock.advance(1)
      #expect(try await exemptions.find(alice) == nil)
      #expect(try await !exemptions.isExempt(alice, at: instance.now))
    }
  }

  @Test func `an exemption lasts at most 30 days`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent("o", role: .owner)
      for days in [-1, 0, 31] as [Int64] {
        await expect("answers") { try await exempt(instance, alice, days: days, by: agent) }
      }
      try await exempt(instance, alice, days: 30, by: agent)
    }
  }

  @Test func `whoever granted an exemption can't renew it, but another administrator can`()
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
        try await exemptions.obstacle(for: again.administrator, to: alice) != nil,
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

  @Test func `an exempt user isn't counted among those whom a mandatory pattern affects`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let policies = instance.identity.policies
      func affected() async throws -> Int {
        try await policies.preview(instance.acme) { $0 }.withoutFactor
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
    }
  }
}
