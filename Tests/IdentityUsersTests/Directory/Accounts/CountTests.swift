import Identity
import Testing

@testable import TestIdentity

struct CountTests {
  @Test func `stored counts equal counts computed from the accounts`() async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      var dice = Seeded(20)
      var uids: [String] = []
      for number in 0..<400 {
        let pool = dice.next() % 2 == 0 ? instance.east : instance.west
        switch dice.next() % 6 {
        case 0, 1:
          var new = NewAccount()
          new.localID = "user-\(number)"
          if dice.next() % 3 > 0 { new.email = "user-\(number)@example.com" }
          new.emailVerified = dice.next() % 2 == 0
          new.disabled = dice.next() % 4 == 0
          _ = try await accounts.create(pool, new, by: .program(Instance.boss))
          uids.append("user-\(number)")
        case 2, 3, 4:
          guard let uid = uids.randomElement(using: &dice) else { continue }
          var change = AccountChange()
          if dice.next() % 3 == 0 { change.email = .set("moved-\(number)@example.com") }
          if dice.next() % 5 == 0 { change.email = .clear }
          if dice.next() % 2 == 0 { change.emailVerified = dice.next() % 2 == 0 }
          if dice.next() % 2 == 0 { change.disabled = dice.next() % 2 == 0 }
          // Half of the accounts are in the other pool and can't be found in this one.
          let random = change
          _ = await outcome {
            try await accounts.update(pool, ID(uid), random, by: Instance.boss)
          }
        default:
          guard let uid = uids.randomElement(using: &dice) else { continue }
          _ = await outcome { try await accounts.delete(pool, ID(uid), by: Instance.boss) }
        }
      }
      let counts = try await accounts.counts(instance.east)
      let all = try await accounts.list(instance.east, limit: 1_000).items
      #expect(counts.users == all.count && counts.users > 20)
      #expect(counts.disabled == all.count(where: \.disabled) && counts.disabled > 3)
      #expect(
        counts.unverifiedEmails == all.count { $0.email != nil && !$0.emailVerified }
          && counts.unverifiedEmails > 3)
      #expect(counts.enrolledUsers == 0)
      try await accounts.deleteAll(instance.east, by: Author(actor: .emulatorOwner))
      #expect(try await accounts.counts(instance.east) == accounts.counts(instance.globex))
    }
  }

  @Test func `only users with a second factor are counted as enrolled`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      _ = try await instance.account(.bob, isVerified: false)
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.users == 2 && counts.enrolledUsers == 1 && counts.unverifiedEmails == 1)
      #expect(counts.disabled == 0)
    }
  }
}
