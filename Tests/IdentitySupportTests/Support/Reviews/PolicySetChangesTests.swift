import Database
@testable import Identity
import JSON
import Testing

@testable import TestIdentity

/// What has changed since a sign-off, and since a page that showed the policies.
struct PolicySetChangesTests {
  private func sign(_ instance: Instance) async throws {
    let iris = try await instance.agent("iris", role: .auditor)
    let reviews = instance.identity.reviews
    _ = try await reviews.signOff(
      instance.acme.project, seen: try await reviews.summary(of: instance.acme.project).seen.digest,
      dueOn: Day(instance.now).next, iris.request(nil))
    instance.clock.advance(60)
  }

  private func summary(_ instance: Instance) async throws -> ReviewSummary {
    try await instance.identity.reviews.summary(of: instance.acme.project)
  }

  private func create(_ name: String, _ instance: Instance) async throws -> ID<Tenant> {
    let tenant = try await instance.identity.pools.createTenant(
      in: instance.acme.project, PoolEdit(displayName: name), by: .program(Instance.boss)
    ).value
    return try #require(tenant.pool.tenant)
  }

  private func delete(_ tenant: ID<Tenant>?, _ instance: Instance) async throws {
    _ = try await instance.identity.pools.delete(
      project: instance.acme.project, tenant: tenant, by: .program(Instance.boss))
  }

  @Test func `created and deleted tenants and changed fields are named`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2, in: instance.east)
      try await sign(instance)
      #expect(try await summary(instance).changes == nil)
      try await instance.setWindow(3, in: instance.east)
      instance.clock.advance(60)
      try await instance.setWindow(1, in: instance.east)
      try await delete(instance.west.tenant, instance)
      let north = try await create("North", instance)
      let review = try await summary(instance)
      let changes = try #require(review.changes)
      #expect(review.status.state == .changed(isOverdue: false) && changes.isComplete)
      let kinds = Dictionary(uniqueKeysWithValues: changes.pools.map { ($0.tenant, $0.kind) })
      let field = PolicyChange(
        field: .adjacentIntervals, from: .adjacentIntervals(.number(2)),
        to: .adjacentIntervals(.number(1)))
      #expect(
        kinds == [
          instance.east.tenant: .changed([field]), instance.west.tenant: .deleted,
          north: .created,
        ])
      #expect(
        changes.pools.map(\.name).sorted()
          == [instance.east.name, instance.west.name, "North"].sorted())
    }
  }

  @Test func `a pool is reviewed only if all changes are known`() async throws {
    try await withInstance { instance in
      try await sign(instance)
      try await instance.setWindow(2, in: instance.east)
      let known = try await summary(instance)
      #expect(known.state(of: instance.east.tenant) == .changed(isOverdue: false))
      #expect(known.state(of: instance.west.tenant) == .current)
      try await sign(instance)
      instance.clock.advance(-360)
      try await instance.setWindow(3, in: instance.east)
      instance.clock.advance(360)
      let unknown = try await summary(instance)
      #expect(unknown.changes?.isComplete == false)
      #expect(unknown.state(of: instance.east.tenant) == .changed(isOverdue: false))
    }
  }

  @Test func `evidence has the earlier policies of all pools, and a page says that it doesn't`()
    async throws
  {
    try await withInstance { instance in
      var tenants: [Pool] = []
      for number in 1...201 {
        let tenant = try await create("tenant-\(number)", instance)
        tenants.append(
          try await instance.identity.pools.existing(
            project: instance.acme.project, tenant: tenant))
      }
      try await sign(instance)
      for tenant in tenants { try await instance.setWindow(2, in: tenant) }
      let iris = try await instance.agent("iris", role: .auditor)
      let evidence = try await instance.identity.reviews.evidence(
        of: instance.acme.project, for: iris.administrator)
      let changes = try #require(evidence.changes)
      #expect(changes.isComplete && changes.pools.count == 201)
      #expect(changes.pools.allSatisfy { $0.before != .null } && !changes.isCut)
      let reviews = instance.identity.reviews
      let project = instance.acme.project
      #expect(try await reviews.summary(of: project, comparesAll: true).changes == changes)
      let shown = try #require(try await reviews.summary(of: project).changes)
      #expect(shown.isCut && !shown.isComplete && shown.pools.count == 201)
      #expect(shown.pools.count { $0.kind == .changed(nil) } == 1)
    }
  }

  @Test func `an earlier policy isn't guessed from a log without all entries`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2)
      try await sign(instance)
      try await instance.setWindow(3)
      try await instance.sealAll()
      instance.clock.advance(370 * 86_400)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await instance.chain.setRetention(days: 365, owner.request(nil, note: "a year"))
      try await instance.setWindow(2)
      try await instance.writeEntries(5)
      try await instance.sealAll()
      while try await instance.chain.removeExpired() {}
      let changes = try #require(try await summary(instance).changes)
      #expect(changes.pools.map(\.kind) == [.changed(nil)] && !changes.isComplete)
    }
  }

  @Test func `a tenant that is created and deleted again changes nothing`() async throws {
    try await withInstance { instance in
      try await sign(instance)
      let north = try await create("North", instance)
      #expect(try await summary(instance).status.state == .changed(isOverdue: false))
      instance.clock.advance(60)
      try await delete(north, instance)
      let review = try await summary(instance)
      #expect(review.status.state == .current && review.changes == nil)
    }
  }

  @Test func `a policy that was changed and changed back is named without fields`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2)
      try await sign(instance)
      try await instance.setWindow(3)
      try await instance.setWindow(2)
      let changes = try #require(try await summary(instance).changes)
      #expect(changes.pools.map(\.kind) == [.changed([])] && changes.isComplete)
      #expect(changes.pools.map(\.tenant) == [nil])
    }
  }

  @Test func `a change that the audit log lacks is named, and the list says so`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(2)
      try await sign(instance)
      let (key, now) = (instance.acme.key, instance.now.microseconds)
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ scope SET policy_version = policy_version + 1, totp_intervals = 7,
            policy_changed_at = \(now)
          WHERE scope_key = \(key)
          """)
      }
      let changes = try #require(try await summary(instance).changes)
      #expect(changes.pools.map(\.kind) == [.changed(nil)] && !changes.isComplete)
    }
  }

  @Test
  func `what has changed since a page is told, and a page of the same policies tells nothing`()
    async throws
  {
    try await withInstance { instance in
      try await sign(instance)
      let iris = try await instance.agent("iris", role: .auditor)
      let reviews = instance.identity.reviews
      func evidence(_ page: SeenPolicies?) async throws -> ReviewEvidence {
        try await reviews.evidence(
          of: instance.acme.project, for: iris.administrator, since: page)
      }
      try await instance.setWindow(2, in: instance.east)
      instance.clock.advance(60)
      let page = try #require(SeenPolicies(try await summary(instance).seen.text))
      #expect(try await evidence(page).changesSincePage == nil)
      #expect(try await evidence(nil).changesSincePage == nil)
      instance.clock.advance(60)
      try await instance.setWindow(4, in: instance.west)
      let found = try await evidence(page)
      let since = try #require(found.changesSincePage)
      #expect(since.pools.map(\.tenant) == [instance.west.tenant] && since.isComplete)
      let all = try #require(found.changes)
      #expect(Set(all.pools.map(\.tenant)) == [instance.east.tenant, instance.west.tenant])
    }
  }

  @Test func `a change that was recorded before a page but stored after it is found`()
    async throws
  {
    try await withInstance { instance in
      let page = try await summary(instance).seen
      instance.clock.advance(10)
      try await instance.setWindow(2, in: instance.east)
      // As if the page had been created while the change waited for another write.
      let late = SeenPolicies(digest: page.digest, at: instance.now.advanced(bySeconds: 5))
      let iris = try await instance.agent("iris", role: .auditor)
      let evidence = try await instance.identity.reviews.evidence(
        of: instance.acme.project, for: iris.administrator, since: late)
      let changes = try #require(evidence.changesSincePage)
      #expect(changes.pools.map(\.tenant) == [instance.east.tenant] && changes.isComplete)
    }
  }

  @Test(arguments: [true, false])
  func `a change whose time is on the other side of the page's is found, also before a later one`(
    isShown: Bool
  ) async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      try await instance.setWindow(1, in: instance.east)
      instance.clock.advance(3_600)
      let page = try await summary(instance).seen
      instance.clock.advance(10)
      try await instance.setWindow(2, in: instance.east)
      let next = try await summary(instance).seen
      instance.clock.advance(3_600)
      try await instance.setWindow(4, in: instance.east)
      // As if the clock of the page's node had been slow, or the change had waited for another write.
      let seen =
        isShown
        ? SeenPolicies(digest: next.digest, at: page.at)
        : SeenPolicies(digest: page.digest, at: next.at.advanced(bySeconds: 5))
      let evidence = try await instance.identity.reviews.evidence(
        of: instance.acme.project, for: iris.administrator, since: seen)
      let changes = try #require(evidence.changesSincePage)
      let field = PolicyChange(
        field: .adjacentIntervals, from: .adjacentIntervals(.number(isShown ? 2 : 1)),
        to: .adjacentIntervals(.number(4)))
      #expect(changes.pools.map(\.kind) == [.changed([field])] && changes.isComplete)
    }
  }

  @Test(arguments: ["", "x", "00.5", "\(String(repeating: "0", count: 64))", "0.0.0"])
  func `other text isn't the policies of a page`(text: String) {
    #expect(SeenPolicies(text) == nil)
  }

  @Test func `evidence has what changed since the last sign-off`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let reviews = instance.identity.reviews
      func changes() async throws -> JSON? {
        let file = try await reviews.file(
          try await reviews.evidence(of: instance.acme.project, for: iris.administrator))
        return try JSON.parse(file)["evidence"]?["changesSinceSignOff"]
      }
      #expect(try await changes() == .null)
      try await sign(instance)
      #expect(try await changes() == .null)
      try await instance.setWindow(4, in: instance.east)
      try await delete(instance.west.tenant, instance)
      let found = try #require(try await changes())
      #expect(found["isComplete"] == true)
      let pools = try #require(found["pools"]?.arrayValue)
      #expect(pools.count == 2)
      let east = pools.first { $0["change"] == "changed" }
      #expect(east?["after"]?["adjacentIntervals"] == 4 && east?["before"]?["version"] != nil)
      let west = pools.first { $0["change"] == "deleted" }
      #expect(west?["name"] == .string(instance.west.name) && west?["after"] == .null)
    }
  }
}
