import Database
@testable import Identity
import Testing

@testable import TestIdentity

struct ReviewTests {
  /// Returns the names of all tenants in a review, in order, read in pages of `limit`.
  private func names(
    _ instance: Instance, _ administrator: Administrator, _ query: PolicyReviewQuery,
    limit: Int = 2
  ) async throws -> [String] {
    var names: [String] = []
    var after: String?
    repeat {
      let part = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: administrator, query, after: after, limit: limit
      ).tenants
      #expect(part.items.count <= limit && (part.next == nil || part.items.count == limit))
      names += part.items.map(\.displayName)
      after = part.next
    } while after != nil
    return names
  }

  @Test func `tenants whose IDs differ only in normalization are all listed, in every order`()
    async throws
  {
    try await withEmulator { identity in
      let project = ID<Project>("demo-project")
      for id in ["caf\u{E9}", "cafe\u{301}"] {
        _ = try await identity.pools.find(project: project, tenant: ID(id))
      }
      let owner = Administrator(
        id: ID("o"), email: "o@example.com", displayName: "O", grants: [Grant(role: .owner)])
      for order in PolicyReviewQuery.Order.allCases {
        let found = try await identity.policies.review(
          project, visibleTo: owner, PolicyReviewQuery(order: order))
        #expect(found.tenants.items.count == 2, "\(order)")
      }
    }
  }

  private func addTenantsAndUsers(_ instance: Instance) async throws {
    for (name, intervals) in [("North", 9), ("South", 0), ("Central", nil)] as [(String, Int?)] {
      instance.clock.advance(60)
      let tenant = try await instance.identity.pools.createTenant(
        in: instance.acme.project,
        PoolEdit(
          displayName: name,
          configuration: MFAConfiguration(
            totp: TOTPConfiguration(state: .enabled, adjacentIntervals: intervals))),
        by: .program(Instance.boss)
      ).value
      if name == "South" {
        _ = try await instance.identity.policies.change(tenant.pool, by: .program(Instance.boss)) {
          $0.configuration.totp = nil
        }
      }
    }
    _ = try await instance.enrolled(.alice, in: instance.east)
    _ = try await instance.account(.bob, in: instance.west)
  }

  @Test func `the project comes first, then its tenants with their policies and counts`()
    async throws
  {
    try await withInstance { instance in
      try await addTenantsAndUsers(instance)
      let owner = try await instance.administrator()
      let review = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: owner)
      #expect(review.project?.tenant == nil && review.project?.displayName == "Acme")
      #expect(
        review.tenants.items.map(\.displayName) == ["Central", "East", "North", "South", "West"])
      #expect((review.count, review.users, review.enrolledUsers) == (5, 2, 1))
      #expect(review.differing == 2)
      let south = review.tenants.items[3]
      #expect(south.changedBy == "Bo the boss" && south.changedAt != nil)
      #expect(!south.edit.configuration.isTOTPOn)
      #expect(review.tenants.items[1].changedAt == nil)
    }
  }

  @Test(arguments: [
    (PolicyReviewQuery.Order.name, ["Central", "East", "North", "South", "West"]),
    (.window, ["North", "Central", "East", "West", "South"]),
    (.enrolled, ["West", "East", "Central", "North", "South"]),
    (.changed, ["South", "Central", "East", "North", "West"]),
  ])
  func `each sort order is the same on one page and across pages`(
    order: PolicyReviewQuery.Order, expected: [String]
  ) async throws {
    try await withInstance { instance in
      try await addTenantsAndUsers(instance)
      let owner = try await instance.administrator()
      for limit in [1, 2, 5, 9] {
        let query = PolicyReviewQuery(order: order)
        #expect(try await names(instance, owner, query, limit: limit) == expected)
      }
    }
  }

  @Test func `tenants are sorted by their share of rejected codes in 30 days`() async throws {
    try await withInstance { instance in
      try await addTenantsAndUsers(instance)
      let owner = try await instance.administrator()
      let tenants = try await instance.identity.pools.tenants(project: instance.acme.project).items
      // Hours until the next one, accepted, and rejected codes; those of East are too old.
      let counts: [(String, Int64, Int, Int)] = [
        ("East", 100, 0, 4), ("North", 695, 1, 1), ("West", 5, 9, 1), ("South", 0, 5, 0),
      ]
      for (name, hours, accepted, rejected) in counts {
        let pool = try #require(tenants.first { $0.displayName == name }).pool
        let id = try await instance.account(.mallory, in: pool).id
        let now = instance.now
        try await instance.database.write { connection in
          for number in 0..<(accepted + rejected) {
            let account = try #require(try AccountRecord.find(pool, id, connection))
            let attempt = CodeAttemptRecorder(
              account: account, pool: pool, way: .app, origin: RequestOrigin())
            if number < accepted {
              try attempt.pass(
                CodeFinding(.accepted, distance: 0, step: Int64(number)), at: now, connection)
            } else {
              _ = try attempt.fail(CodeFinding(.wrong), at: now, connection)
            }
          }
        }
        while try await instance.identity.activity.fold() {}
        instance.clock.advance(hours * 3_600)
      }
      for limit in [1, 2, 5, 9] {
        let query = PolicyReviewQuery(order: .rejected)
        let found = try await names(instance, owner, query, limit: limit)
        #expect(found == ["North", "West", "South", "Central", "East"])
      }
    }
  }

  @Test(arguments: [
    (PolicyReviewQuery.Selection.differs, ["North", "South"]), (.off, ["South"]),
    (.wide, ["North"]), (.noneEnrolled, ["West"]),
    (.all, ["Central", "East", "North", "South", "West"]),
  ])
  func `each filter shows the matching tenants, in every sort order`(
    selection: PolicyReviewQuery.Selection, expected: [String]
  ) async throws {
    try await withInstance { instance in
      try await addTenantsAndUsers(instance)
      let owner = try await instance.administrator()
      for order in PolicyReviewQuery.Order.allCases {
        let query = PolicyReviewQuery(selection: selection, order: order)
        #expect(try await names(instance, owner, query).sorted() == expected)
      }
      let found = try await names(
        instance, owner, PolicyReviewQuery(search: "OUTH", selection: selection))
      #expect(found == (expected.contains("South") ? ["South"] : []))
    }
  }

  @Test func `an administrator of one tenant sees only that tenant`() async throws {
    try await withInstance { instance in
      try await addTenantsAndUsers(instance)
      let visitor = try await instance.identity.administrators.create(
        email: "east@example.com", displayName: "X", password: Instance.consolePassword,
        grant: Grant(
          role: .auditor, project: instance.acme.project, tenant: instance.east.tenant),
        by: Instance.boss)
      let review = try await instance.identity.policies.review(
        instance.acme.project, visibleTo: visitor)
      #expect(review.project == nil && review.differing == nil)
      #expect(review.tenants.items.map(\.displayName) == ["East"])
      #expect((review.count, review.users, review.enrolledUsers) == (1, 1, 1))
      let differing = PolicyReviewQuery(selection: .differs)
      #expect(try await names(instance, visitor, differing).isEmpty)
      let elsewhere = try await instance.identity.policies.review(
        instance.globex.project, visibleTo: visitor)
      #expect(elsewhere.project == nil && elsewhere.tenants.items.isEmpty && elsewhere.count == 0)
    }
  }

  @Test(arguments: ["", "x", ".", "9.", "99999999999999999999.a", "-1", "5.5.5", "a.b"])
  func `an invalid page token does no harm`(after: String) async throws {
    try await withInstance { instance in
      let owner = try await instance.administrator()
      for order in PolicyReviewQuery.Order.allCases {
        _ = try await instance.identity.policies.review(
          instance.acme.project, visibleTo: owner, PolicyReviewQuery(order: order), after: after)
      }
    }
  }

  @Test func `a deleted tenant isn't listed, and an unknown project isn't found`()
    async throws
  {
    try await withInstance { instance in
      let owner = try await instance.administrator()
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant ?? ID(""),
        by: .program(Instance.boss))
      #expect(try await names(instance, owner, PolicyReviewQuery()) == ["West"])
      await expect("poolNotFound") {
        try await instance.identity.policies.review(ID("nowhere"), visibleTo: owner)
      }
    }
  }
}
