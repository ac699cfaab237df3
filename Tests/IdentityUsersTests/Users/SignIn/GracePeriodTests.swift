import Identity
import Testing

@testable import TestIdentity

/// The users who still have time to enroll.
struct GracePeriodTests {
  private func inGrace(_ instance: Instance) async throws -> Int {
    let policies = instance.identity.policies
    let policy = try await policies.read(instance.acme)
    return try await policies.usersInGrace(
      policy, of: try await policies.unenrolledUsers(policy))
  }

  @Test func `users in grace are those without a factor whose time isn't over`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      let policies = instance.identity.policies
      try await instance.enforce(.claim, grace: 7)
      let all = try await inGrace(instance)
      let users = try await policies.read(instance.acme).users
      instance.clock.advance(8 * 86_400)
      let bob = try await instance.account(.bob)
      let new = try await inGrace(instance)
      #expect(all == users && new == 1)
      // Exempt users have more than time.
      let (owner, end) = (try await instance.agent("o", role: .owner), instance.now)
      for user in [alice, bob] {
        _ = try await instance.identity.exemptions.grant(
          instance.acme, user.id, until: end.advanced(bySeconds: 86_400), owner.request(.lost))
      }
      #expect(try await inGrace(instance) == 0)
      try await instance.enforce(.claim, grace: 90)
      #expect(try await inGrace(instance) == users + 1 - 2)
    }
  }

  @Test func `without a grace period, all users have time until enforcement starts`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice)
      let first = Day(instance.now.advanced(bySeconds: 86_400))
      try await instance.enforce(.claim, from: "\(first)", grace: 0)
      let before = try await inGrace(instance)
      let users = try await instance.identity.policies.read(instance.acme).users
      instance.clock.advance(86_400)
      let after = try await inGrace(instance)
      #expect(before == users && users > 0 && after == 0)
    }
  }

  @Test func `a factor that is off doesn't end the grace period, and anonymous users have none`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.anonymous = true }
      for grace in [90, 7] {
        try await instance.enforce(.claim, grace: grace)
        instance.clock.advance(8 * 86_400)
        let before = try await inGrace(instance)
        let person: Person = grace == 90 ? .alice : .bob
        let account = try await instance.account(person)
        var change = AccountChange()
        change.factors = .replace([FactorEntry(phoneNumber: "+15555550101")])
        _ = try await instance.identity.accounts.update(
          instance.acme, account.id, change, by: Instance.boss)
        _ = try await instance.identity.signIns.signUp(
          instance.acme, NewAccount(), by: Instance.visitor)
        #expect(try await inGrace(instance) == before + 1, "\(grace)")
      }
    }
  }
}
