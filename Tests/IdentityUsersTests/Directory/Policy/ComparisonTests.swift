@testable import Identity
import Testing

@testable import TestIdentity

struct ComparisonTests {
  private static let owner = Administrator(
    id: ID("o"), email: "o@example.com", displayName: "O", grants: [Grant(role: .owner)])

  private func compare(
    _ instance: Instance, _ subject: ComparisonSubject, as administrator: Administrator = owner
  ) async throws -> PolicyComparison {
    try await instance.identity.policies.compare(
      instance.acme, with: subject, visibleTo: administrator)
  }

  @Test func `two pools are compared field by field`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(1)
      try await instance.setWindow(3, in: instance.globex)
      let result = try await compare(instance, .pool(instance.globex.project, nil))
      #expect(
        PolicyChange.between(result.other.edit, result.one.edit) == [
          PolicyChange(
            field: .adjacentIntervals, from: .adjacentIntervals(.number(3)),
            to: .adjacentIntervals(.number(1)))
        ])
      await expect("poolNotFound") { try await compare(instance, .pool(ID("nowhere"), nil)) }
    }
  }

  @Test func `a policy that the administrator can't read isn't found`() async throws {
    try await withInstance { instance in
      let acme = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .policy, project: instance.acme.project)])
      await expect("poolNotFound") {
        try await compare(instance, .pool(instance.globex.project, nil), as: acme)
      }
    }
  }

  @Test func `the policy of every past day is the one that was in force at its end`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      var known: [(Day, PolicyEdit)] = []
      let edits: [@Sendable (inout PolicyEdit) -> Void] = [
        { $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1) },
        {
          $0.pattern = .mandatory; $0.mandatoryFrom = Day("2027-01-01")
        },
        { $0.configuration.totp?.adjacentIntervals = nil },
        { $0.configuration.setSMS(true) },
        { $0.pattern = .account },
        { $0.configuration.totp = nil },
        { $0.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: 0) },
        {
          $0.pattern = nil; $0.configuration.smsEnabled = false
        },
      ]
      for edit in edits {
        instance.clock.advance(86_400)
        let policy = try await policies.change(instance.acme, by: .program(Instance.boss)) {
          edit(&$0)
        }.value.policy
        known.append((Day(instance.now), policy.edit))
      }
      for (day, edit) in known {
        let past = try await compare(instance, .day(day))
        #expect(past.other.edit == edit && past.other.asOf == day, "\(day)")
      }
    }
  }

  @Test func `the policy of a day whose changes were removed from the log isn't guessed`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(1)
      let early = Day(instance.now)
      for window in [2, 3] {
        instance.clock.advance(10 * 86_400)
        try await instance.setWindow(window)
      }
      let late = Day(instance.now)
      try await instance.sealAll()
      instance.clock.advance(370 * 86_400)
      #expect(
        try await compare(instance, .day(early)).other.edit.configuration.totp?.adjacentIntervals
          == 1)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      let recent = Day(instance.now)
      try await instance.writeEntries(5)
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      for day in [early, late] {
        await expect("removed") { try await compare(instance, .day(day)) }
      }
      let now = try await compare(instance, .day(recent))
      #expect(now.other.edit.configuration.totp?.adjacentIntervals == 3)
    }
  }

  @Test func `a day before the pool's creation and a future day have no policy`() async throws {
    try await withInstance { instance in
      await expect("notYetCreated") { try await compare(instance, .day(Day("2001-01-01")!)) }
      let tomorrow = Day(instance.now).next
      await expect("futureDay") { try await compare(instance, .day(tomorrow)) }
    }
  }
}
