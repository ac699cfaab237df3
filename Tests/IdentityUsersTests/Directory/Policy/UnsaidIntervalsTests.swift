import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// Intervals of which the server of a connected pool says neither 0 nor that none are set.
struct UnsaidIntervalsTests {
  private static let unsaid = TOTPConfiguration(state: .enabled, intervals: .unsaid)

  private func edit(_ intervals: AdjacentIntervals) -> PolicyEdit {
    PolicyEdit(
      configuration: MFAConfiguration(
        totp: TOTPConfiguration(state: .enabled, intervals: intervals)), pattern: nil)
  }

  private func store(_ intervals: AdjacentIntervals, in pool: Pool, _ instance: Instance)
    async throws
  {
    _ = try await instance.identity.policies.change(pool, by: .program(Instance.boss)) {
      $0.configuration.totp = TOTPConfiguration(state: .enabled, intervals: intervals)
    }
  }

  @Test func `they're stored, logged, and restored as their own value`() async throws {
    try await withInstance { instance in
      let policies = instance.identity.policies
      try await instance.setWindow(1)
      try await store(.unsaid, in: instance.acme, instance)
      let policy = try await policies.read(instance.acme)
      #expect(policy.configuration.totp == Self.unsaid)
      #expect(policy.configuration.totp?.adjacentIntervals == nil)
      #expect(policy.configuration.window == .standard && policy.configuration.isWindowUnsaid)
      #expect(!policy.configuration.isWindowWide)
      let key = instance.acme.key
      let stored = try await instance.database.read { connection in
        try connection.first(
          "SELECT /* test */ totp_intervals FROM scope WHERE scope_key = \(key)"
        ) { try $0.next() as Int }
      }
      #expect(stored == -1)
      let row = try #require(try await policies.history(instance.acme).first)
      let change = try #require(row.changes.first { $0.field == .adjacentIntervals })
      #expect(change.old == .number(1) && change.new == .code("unsaid"))
      try await instance.setWindow(2)
      let versions = try await policies.restorable(instance.acme)
      #expect(
        versions.prefix(3).map(\.edit.configuration.totp?.intervals)
          == [.number(2), .unsaid, .number(1)])
      let asked = DirectoryChange.policy(edit(.unsaid), version: 3, seen: edit(.standard))
      #expect(DirectoryChange(stored: asked.stored) == asked)
    }
  }

  @Test(arguments: [-2, 11])
  func `the database accepts no other number`(number: Int) async throws {
    try await withInstance { instance in
      let key = instance.acme.key
      await expect("unavailable") {
        try await instance.database.write { connection in
          _ = try connection.run(
            "UPDATE /* test */ scope SET totp_intervals = \(number) WHERE scope_key = \(key)")
        }
      }
    }
  }

  @Test func `they differ from 0, from 5, and from the default, and equal themselves`()
    async throws
  {
    let all: [AdjacentIntervals] = [.number(0), .number(5), .unsaid]
    let day = try #require(Day("2026-12-01"))
    for one in all {
      for other in all {
        let (left, right) = (PolicyInForce(edit(one)), PolicyInForce(edit(other)))
        #expect((left == right) == (one == other))
        #expect(left.differences(from: right, on: day).isEmpty == (one == other))
      }
    }
    #expect(PolicyInForce(edit(.standard)) == PolicyInForce(edit(.number(5))))
    let changes = PolicyChange.between(edit(.standard), edit(.unsaid))
    #expect(
      changes == [
        PolicyChange(
          field: .adjacentIntervals, from: .adjacentIntervals(.standard),
          to: .adjacentIntervals(.unsaid))
      ])
    try await withInstance { instance in
      let owner = try await instance.administrator("olga", .owner)
      for pool in [instance.acme, instance.east, instance.west] {
        try await store(.number(5), in: pool, instance)
      }
      try await store(.unsaid, in: instance.east, instance)
      let review = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: owner,
        PolicyReviewQuery(selection: .differs, order: .window))
      #expect(review.tenants.items.map(\.tenant) == [instance.east.tenant])
      #expect(review.differing == 1)
      let wide = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: owner, PolicyReviewQuery(selection: .wide))
      #expect(wide.tenants.items.isEmpty)
    }
  }

  @Test func `only more than 5 is weaker, and they're weaker than less than 5`() {
    func weakenings(_ old: AdjacentIntervals, _ new: AdjacentIntervals) -> [PolicyWeakening] {
      edit(new).weakenings(since: edit(old), usersHaveApps: true)
    }
    for stricter: AdjacentIntervals in [.number(0), .number(3), .number(5), .standard, .unsaid] {
      #expect(weakenings(.unsaid, stricter).isEmpty, "\(stricter)")
    }
    #expect(weakenings(.unsaid, .number(6)) == [.widerWindow(from: 5, to: 6)])
    for looser: AdjacentIntervals in [.number(5), .number(9), .standard] {
      #expect(weakenings(looser, .unsaid).isEmpty, "\(looser)")
    }
    #expect(weakenings(.number(4), .unsaid) == [.widerWindow(from: 4, to: 5)])
  }
}
