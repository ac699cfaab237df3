import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// The numbers of users of pools and projects, whose changes are added to them later.
struct CountChangeTests {
  private static let owner = Administrator(
    id: ID("boss"), email: "boss@example.com", displayName: "Bo",
    grants: [Grant(role: .owner)])

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `shown numbers equal a recount after any changes, folded or not`(seed: UInt64) async throws {
    try await withInstance { instance in
      var dice = Seeded(seed)
      var users: [[Int]] = [[], []]
      let pools = [instance.acme, instance.east]
      for round in 0..<60 {
        let index = dice.below(2)
        let (pool, first) = (pools[index], 1_000 * (round + 1))
        let user = dice.pick(users[index])
        switch dice.below(10) {
        case 0, 1:
          try await instance.addUsers(3, in: pool, from: first)
          users[index] += first..<first + 3
        case 2, 3:
          try await instance.create(first, in: pool, isPlain: dice.chance(50))
          users[index].append(first)
        case 4:
          guard let user else { continue }
          try await instance.identity.accounts.delete(pool, ID("u\(user)"), by: Instance.boss)
          users[index].removeAll { $0 == user }
        case 5: try await instance.removeFactors(of: user, in: pool)
        case 6, 7: try await instance.lock(user, in: pool, locks: dice.chance(60))
        case 8 where dice.chance(20):
          try await instance.identity.accounts.deleteAll(pool, by: Author(actor: .emulatorOwner))
          users[index] = []
        case 9: _ = try await instance.identity.activity.fold()
        default: try await instance.disable(user, in: pool, disables: dice.chance(60))
        }
        try await instance.expectSoundCounts()
        try await expectShown(instance, pools, "seed \(seed), round \(round)")
      }
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      try await instance.expectSoundCounts()
      try await expectShown(instance, [instance.acme], "seed \(seed), deleted")
    }
  }

  /// Expects each reader to show the recounted numbers.
  private func expectShown(_ instance: Instance, _ pools: [Pool], _ note: Comment) async throws {
    let (identity, boss) = (instance.identity, CountChangeTests.owner)
    var (users, enrolled) = (0, 0)
    for pool in pools {
      let expected = try await instance.recount(pool)
      #expect(try await identity.accounts.counts(pool) == expected, note)
      let policy = try await identity.policies.read(pool)
      #expect(policy.users == expected.users && policy.totpUsers == expected.totpUsers, note)
      #expect(policy.enrolledUsers == expected.enrolledUsers, note)
      let prerequisites = try await identity.policies.prerequisites(pool)
      #expect(prerequisites.unverifiedEmails == expected.unverifiedEmails, note)
      (users, enrolled) = (users + expected.users, enrolled + expected.enrolledUsers)
    }
    let losses = try await identity.pools.deletionImpact(project: instance.acme.project)
    #expect(losses.users == users && losses.enrolledUsers == enrolled, note)
    let review = try await identity.policies.review(
      instance.acme.project, visibleTo: boss, PolicyReviewQuery(order: .enrolled))
    let own = try await instance.recount(instance.acme)
    #expect(review.users == users - own.users, note)
    #expect(review.enrolledUsers == enrolled - own.enrolledUsers, note)
    guard pools.contains(instance.east) else { return }
    let east = try await instance.recount(instance.east)
    #expect(review.tenants.items.first { $0.key == instance.east.key }?.users == east.users, note)
    // West has no users, and tenants without users are last.
    #expect(review.tenants.items.first?.key == instance.east.key || east.users == 0, note)
    let unenrolled = try await identity.policies.review(
      instance.acme.project, visibleTo: boss, PolicyReviewQuery(selection: .noneEnrolled))
    #expect(
      unenrolled.tenants.items.map(\.key)
        == (east.users > 0 && east.enrolledUsers == 0 ? [instance.east.key] : []), note)
  }

  @Test(arguments: [nil, .disabled] as [MFAState?])
  func `a pool needs attention from the first user on whose app isn't asked for`(
    state: MFAState?
  ) async throws {
    try await withInstance { instance in
      let boss = Self.owner
      func warned() async throws -> Bool {
        try await instance.identity.pools.warnings(visibleTo: boss, limit: 50)
          .contains { $0.tenant == instance.west.tenant && $0.reason == .enrolledWhileOff(1) }
      }
      _ = try await instance.identity.policies.change(instance.west, by: .program(Instance.boss)) {
        $0.configuration.totp = state.map { TOTPConfiguration(state: $0, adjacentIntervals: nil) }
      }
      while try await instance.identity.activity.fold() {}
      #expect(try await !warned())
      try await instance.addUsers(1, in: instance.west)
      #expect(try await warned())
      while try await instance.identity.activity.fold() {}
      #expect(try await warned())
      try await instance.identity.accounts.delete(instance.west, ID("u0"), by: Instance.boss)
      #expect(try await !warned())
    }
  }

  @Test func `200 sign-ups at once are counted exactly, while the changes are folded`()
    async throws
  {
    try await withInstance { instance in
      async let folds: Void = {
        for _ in 0..<20 {
          _ = try await instance.identity.activity.fold()
          try await Task.sleep(for: .milliseconds(20))
        }
      }()
      let servers = [instance.identity, try instance.identity()]
      _ = try await concurrently(200) { number in
        var new = NewAccount()
        new.email = "crowd-\(number)@example.com"
        new.password = Person.alice.password
        return try await servers[number % 2].signIns.signUp(
          instance.acme, new,
          by: Author(actor: .visitor, address: "203.0.\(number).5", requestID: "request-\(number)"))
      }
      try await folds
      let counts = try await instance.identity.accounts.counts(instance.acme)
      #expect(counts.users == 200 && counts.unverifiedEmails == 200)
    }
  }
}

extension Instance {
  fileprivate func create(_ number: Int, in pool: Pool, isPlain: Bool) async throws {
    var new = NewAccount()
    new.localID = "u\(number)"
    new.email = isPlain ? nil : "other-\(number)@example.com"
    _ = try await identity.accounts.create(pool, new, by: .program(Self.boss))
  }

  fileprivate func disable(_ user: Int?, in pool: Pool, disables: Bool) async throws {
    guard let user else { return }
    var change = AccountChange()
    change.disabled = disables
    _ = try await identity.accounts.update(pool, ID("u\(user)"), change, by: Self.boss)
  }

  fileprivate func lock(_ user: Int?, in pool: Pool, locks: Bool) async throws {
    guard let user, let account = try await identity.accounts.find(pool, ID("u\(user)")) else {
      return
    }
    let end = now.advanced(bySeconds: 3_600)
    try await database.write { connection in
      if locks {
        try AccountRecord.lockCodes(of: account, until: end, connection)
      } else {
        try AccountRecord.unlockCodes(account.key, connection)
      }
    }
  }

  fileprivate func removeFactors(of user: Int?, in pool: Pool) async throws {
    guard let user, let account = try await identity.accounts.find(pool, ID("u\(user)")) else {
      return
    }
    try await database.write { connection in
      try FactorRecord.delete(account.factors, of: account, in: pool, connection)
    }
  }

  /// Counts the accounts of a pool.
  fileprivate func recount(_ pool: Pool) async throws -> AccountCounts {
    try await database.read { connection in
      let accounts = try AccountRecord.many(
        "a.scope_key = \(pool.key)", limit: 10_000, connection)
      return accounts.reduce(into: AccountCounts()) { $0 += AccountCounts(of: $1) }
    }
  }
}
