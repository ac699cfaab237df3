import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// What's read, signed, and exported of a project whose policies and users were read from a remote.
@Suite struct MirroredReviewTests {
  /// The intervals of a tenant's policy there, what's stored of them, and what files have.
  struct Case: Sendable, CustomTestStringConvertible {
    let there: Int?
    let here: AdjacentIntervals
    let shown: JSON
    var testDescription: String { there.map { "\($0) there" } ?? "none there" }
  }

  @Test(arguments: [
    Case(there: nil, here: .unsaid, shown: "0 or default"),
    Case(there: 0, here: .unsaid, shown: "0 or default"),
    Case(there: 3, here: .number(3), shown: 3), Case(there: 9, here: .number(9), shown: 9),
  ])
  func `reviews, sign-offs, evidence, comparisons, and files have what the remote says`(
    _ this: Case
  ) async throws {
    try await withInstance { instance in
      let (remote, identity) = (instance.remote, instance.identity)
      let (policies, reviews) = (identity.policies, identity.reviews)
      remote.behavior.tenants = ["east": TestRemote.tenant("east", intervals: this.there)]
      remote.set(TestRemote.user("a", totp: true), in: "east")
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let (project, signedOn) = (pool.project, Day(instance.now))
      let east = try await identity.pools.existing(project: project, tenant: ID("east"))
      let iris = try await instance.agent("iris", role: .auditor)
      func intervals(_ edit: PolicyEdit) -> AdjacentIntervals? {
        edit.configuration.totp?.intervals
      }

      // The project's own are 3.
      let review = try await policies.review(project, visibleTo: iris.administrator)
      #expect(review.tenants.items.map { intervals($0.edit) } == [this.here])
      #expect(review.differing == (this.here == .number(3) ? 0 : 1))
      let comparison = try await policies.compare(
        pool, with: .pool(project, east.tenant), visibleTo: iris.administrator)
      #expect(intervals(comparison.one.edit) == .number(3))
      #expect(intervals(comparison.other.edit) == this.here)

      let digest = try await reviews.summary(of: project).seen.digest
      _ = try await reviews.signOff(
        project, seen: digest, dueOn: Day(instance.now.advanced(bySeconds: 30 * 86_400)),
        iris.request(nil, note: "All good"))
      #expect(try await reviews.summary(of: project).status.state == .current)
      let bytes = try await reviews.file(
        try await reviews.evidence(of: project, for: iris.administrator))
      let key = try await identity.evidenceKeys.current().publicKey
      guard case .valid = EvidenceFile.verify(bytes, with: [key]) else {
        Issue.record("not valid")
        return
      }
      let evidence = try #require(try JSON.parse(bytes)["evidence"])
      let set = try #require(evidence["policySet"]?["pools"]?.arrayValue)
      #expect(set.map { $0["adjacentIntervals"] } == [3, this.shown])
      let tenant = try #require(evidence["pools"]?.arrayValue?.last)
      #expect(tenant["inForce"]?["adjacentIntervals"] == this.shown)
      #expect(tenant["users"] == 1 && tenant["enrolledUsers"] == 1)
      #expect(evidence["signOffs"]?.arrayValue?.first?["isOfCurrentPolicies"] == true)

      let file = try await policies.file(of: project)
      #expect(try PolicyFile(parsing: file.serialized()) == file)
      let exported = try #require(try JSON.parse(file.serialized())["pools"]?.arrayValue)
      #expect(exported.map { $0["totp"]?["adjacentIntervals"] } == [3, this.shown])
      #expect(try await policies.drift(from: file).isEmpty)

      // A day later, the policy is changed there.
      remote.behavior.tenants["east"] = TestRemote.tenant("east", intervals: 6)
      instance.clock.advance(86_400)
      try await instance.sync(pool)
      let later = try await reviews.summary(of: project)
      #expect(later.status.state == .changed(isOverdue: false))
      #expect(later.changes?.isComplete == true)
      let change = try #require(later.change(of: east.tenant))
      #expect(change.before["adjacentIntervals"] == this.shown)
      #expect(change.after["adjacentIntervals"] == 6)
      let past = try await policies.compare(
        east, with: .day(signedOn), visibleTo: iris.administrator)
      #expect(intervals(past.one.edit) == .number(6) && intervals(past.other.edit) == this.here)
      let drift = try await policies.drift(from: file)
      #expect(drift.map { $0.policy.pool.key } == [east.key])
      #expect(drift.map(\.members) == [[.adjacentIntervals]])
      #expect(drift.map { intervals($0.wanted) } == [this.here])
    }
  }

  @Test func `the data of a mirrored user are exported, with what was changed there`() async throws
  {
    try await withInstance { instance in
      let remote = instance.remote
      remote.set(TestRemote.user("a", totp: true, phone: "+15550100"))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      remote.set(TestRemote.user("a", email: "new@example.com", phone: "+15550100"))
      try await instance.sync(pool)
      let bytes = try await instance.identity.userData.export(
        pool, ID("a"), by: .program(Instance.boss)
      ).value
      let file = try JSON.parse(bytes)
      let account = try #require(file["account"])
      #expect(account["email"] == "new@example.com" && account["goneAt"]?.isNull == true)
      #expect(account["askedAt"] == .string(instance.now.rfc3339Milliseconds))
      #expect(file["providers"]?.arrayValue?.map { $0["providerId"] } == ["password"])
      let factors = try #require(file["factors"]?.arrayValue)
      #expect(factors.map { $0["enrollmentId"] } == ["a-phone"])
      #expect(factors.map { $0["phone"] } == ["+15550100"])
      #expect(file["mirrorFaults"]?.arrayValue?.isEmpty == true)
      let entries = try #require(file["auditLog"]?.arrayValue)
      #expect(entries.contains { $0["action"] == "account.change" && $0["actorKind"] == "remote" })
    }
  }
}
