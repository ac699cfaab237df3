import Crypto
import Database
@testable import Identity
import JSON
import Testing

@testable import TestIdentity

struct SignOffTests {
  @discardableResult
  private func sign(
    _ instance: Instance, by agent: Agent, days: Int = 30, seen: String? = nil,
    after last: Int64? = nil, note: String = ""
  ) async throws -> SubmittedSignOff {
    let reviews = instance.identity.reviews
    let digest = try await reviews.summary(of: instance.acme.project).seen.digest
    return try await reviews.signOff(
      instance.acme.project, seen: seen ?? digest, after: last,
      dueOn: Day(instance.now.advanced(bySeconds: Int64(days) * 86_400)),
      agent.request(nil, note: note)
    ).value
  }

  private func state(_ instance: Instance) async throws -> ReviewStatus.State {
    try await instance.identity.reviews.summary(of: instance.acme.project).status.state
  }

  @Test func `the policy set lists all pools in a fixed order, and its digest follows from it`()
    async throws
  {
    try await withInstance { instance in
      try await instance.setWindow(2, in: instance.east)
      let set = try await instance.database.read {
        try PolicySet.read(instance.acme.project, $0)
      }
      let text = String(decoding: set.json.serialized(), as: UTF8.self)
      #expect(
        text.hasPrefix(#"{"schema":"countersign-policy-set/1","project":"acme-app","pools":[{"#))
      let east = #"{"tenant":"\#(instance.east.objectID)","version":1,"#
      let policy =
        #""sms":false,"totpState":"enabled","adjacentIntervals":2,"enrollmentPattern":null"#
      #expect(text.contains(east) && text.contains(policy))
      #expect(set.pools.map(\.tenant) == set.pools.map(\.tenant).sorted())
      #expect(set.digest == HashFunction.sha256.digest(Array(text.utf8)))
    }
  }

  @Test func `any change to any pool makes a sign-off out of date, even if it is undone`()
    async throws
  {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      #expect(try await state(instance) == .never)
      try await instance.setWindow(2, in: instance.east)
      try await sign(instance, by: iris)
      #expect(try await state(instance) == .current)
      try await instance.setWindow(3, in: instance.east)
      #expect(try await state(instance) == .changed(isOverdue: false))
      try await instance.setWindow(2, in: instance.east)
      #expect(try await state(instance) == .changed(isOverdue: false))
      try await sign(instance, by: iris)
      #expect(try await state(instance) == .current)
      _ = try await instance.identity.pools.createTenant(
        in: instance.acme.project,
        PoolEdit(displayName: "North"), by: .program(Instance.boss))
      #expect(try await state(instance) == .changed(isOverdue: false))
    }
  }

  @Test func `a change of one pool leaves the review of the others`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let project = instance.acme.project
      func states() async throws -> [ID<Tenant>?: ReviewStatus.State] {
        let summary = try await instance.identity.reviews.summary(of: project)
        let review = try await instance.identity.policies.review(
          project, visibleTo: iris.administrator)
        let every = try await instance.identity.policies.everyPool(visibleTo: iris.administrator)
        let summaries = try await instance.identity.reviews.summaries(
          of: every.items, visibleTo: iris.administrator)
        return Dictionary(
          uniqueKeysWithValues: review.tenants.items.map {
            #expect(summaries[project]?.state(of: $0.tenant) == summary.state(of: $0.tenant))
            return ($0.tenant, summary.state(of: $0.tenant))
          })
      }
      let (east, west) = (instance.east.tenant, instance.west.tenant)
      let before = try await states()
      #expect(before == [east: .never, west: .never])
      // By a node whose clock is fast.
      instance.clock.advance(30)
      try await instance.setWindow(2, in: instance.west)
      instance.clock.advance(-30)
      try await sign(instance, by: iris)
      let signed = try await states()
      #expect(signed == [east: .current, west: .current])
      instance.clock.advance(60)
      try await instance.setWindow(3, in: instance.east)
      let changed = try await states()
      #expect(changed == [east: .changed(isOverdue: false), west: .current])
      instance.clock.advance(40 * 86_400)
      let late = try await states()
      #expect(late == [east: .changed(isOverdue: true), west: .overdue])
    }
  }

  @Test func `the next reviews are announced a week ahead, and then are overdue`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let reviews = instance.identity.reviews
      func upcoming() async throws -> Int {
        try await reviews.upcoming(visibleTo: iris.administrator, within: 7, limit: 5).count
      }
      func overdue() async throws -> Int {
        try await reviews.overdue(visibleTo: iris.administrator, limit: 5).count
      }
      try await sign(instance, by: iris, days: 10)
      let early = try await (upcoming(), overdue())
      instance.clock.advance(3 * 86_400)
      let ahead = try await (upcoming(), overdue())
      instance.clock.advance(8 * 86_400)
      let late = try await (upcoming(), overdue())
      #expect(early == (0, 0) && ahead == (1, 0) && late == (0, 1))
    }
  }

  @Test func `a changed name and other projects don't make a sign-off out of date`() async throws {
    try await withInstance { instance in
      try await sign(instance, by: try await instance.agent("iris", role: .auditor))
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.displayName = "Acme renamed" }
      try await instance.setWindow(1, in: instance.globex)
      #expect(try await state(instance) == .current)
      let globex = try await instance.identity.reviews.summary(of: instance.globex.project).status
      #expect(globex.state == .never && globex.signOff == nil)
    }
  }

  @Test func `a reviewer can't sign off policies they haven't seen`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let digest = try await instance.identity.reviews.summary(of: instance.acme.project).seen
        .digest
      try await instance.setWindow(3)
      await expect("changedMeanwhile") {
        try await sign(instance, by: iris, seen: digest)
      }
      #expect(try await state(instance) == .never)
    }
  }

  @Test func `the next review is due within a year, after today`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      for days in [-1, 0, 367] {
        await expect("invalidDueDay") { try await sign(instance, by: iris, days: days) }
      }
      try await sign(instance, by: iris, days: 366)
    }
  }

  @Test(arguments: [Role.support, .policy])
  func `other roles can't sign off`(role: Role) async throws {
    try await withInstance { instance in
      let agent = try await instance.agent("sam", role: role)
      await expect("notAllowed") { try await sign(instance, by: agent) }
      #expect(try await state(instance) == .never)
    }
  }

  @Test func `an auditor of another project can't sign off`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent(
        "zoe", role: .auditor, project: instance.globex.project)
      await expect("notAllowed") { try await sign(instance, by: agent) }
    }
  }

  @Test func `a sign-off is audited with its digest, due day, and note`() async throws {
    try await withInstance { instance in
      try await sign(
        instance, by: try await instance.agent("iris", role: .auditor), note: "Q4 review")
      let row = try #require(try await instance.log().first)
      let signOff = try #require(
        try await instance.identity.reviews.signOffs(of: instance.acme.project).first)
      #expect(row.action == .policySignOff && row.note == "Q4 review" && row.actorName == "iris")
      #expect(row.new(.policyDigest) == .text(signOff.digest))
      #expect(row.new(.reviewDue) == .day(signOff.dueOn))
      let versions = try await instance.identity.policies.versions(instance.acme)
      #expect(
        versions.items.allSatisfy { $0.action == .policyChange },
        "a sign-off isn't a version of the policy")
    }
  }

  private func last(_ instance: Instance) async throws -> Int64 {
    try await instance.identity.reviews.signOffs(of: instance.acme.project).first?.id ?? 0
  }

  @Test func `a form that is submitted twice is one sign-off`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      func count() async throws -> Int {
        try await instance.identity.reviews.signOffs(of: instance.acme.project).count
      }
      let form = try await last(instance)
      for _ in 1...2 {
        let submitted = try await sign(instance, by: iris, after: form, note: "Q4")
        #expect(submitted.later == nil)
      }
      let twice = try await count()
      let entries = try await instance.log().filter { $0.action == .policySignOff }.count
      #expect(twice == 1 && entries == 1)
      try await sign(instance, by: iris, after: form, note: "Q4, with a correction")
      try await sign(instance, by: iris, days: 60, after: form, note: "Q4, with a correction")
      #expect(try await count() == 3, "another note or due day is another sign-off")
    }
  }

  @Test func `a form that is submitted twice is one sign-off, also with another one in between`()
    async throws
  {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let omar = try await instance.agent("omar", role: .auditor)
      let form = try await last(instance)
      try await sign(instance, by: iris, after: form, note: "Q4")
      try await sign(instance, by: omar, days: 31, after: try await last(instance), note: "Q4")
      let again = try await sign(instance, by: iris, after: form, note: "Q4")
      #expect(
        again.later?.reviewerName == "omar", "the answer names the sign-off that's the latest")
      let signOffs = try await instance.identity.reviews.signOffs(of: instance.acme.project)
      #expect(signOffs.map(\.reviewerName) == ["omar", "iris"])
    }
  }

  @Test func `a new form is a new sign-off, even with the same contents as an earlier one`()
    async throws
  {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      let olga = try await instance.agent("olga", role: .owner)
      for (agent, days) in [(iris, 60), (olga, 300), (iris, 60), (iris, 90), (iris, 60)] {
        try await sign(instance, by: agent, days: days, after: try await last(instance))
      }
      let signOffs = try await instance.identity.reviews.signOffs(of: instance.acme.project)
      #expect(signOffs.map(\.reviewerName) == ["iris", "iris", "iris", "olga", "iris"])
      let latest = try await instance.identity.reviews.summary(of: instance.acme.project).status
        .signOff
      #expect(latest?.dueOn == Day(instance.now.advanced(bySeconds: 60 * 86_400)))
      #expect(try await instance.log().filter { $0.action == .policySignOff }.count == 5)
    }
  }

  @Test func `a form that doesn't name the last sign-off is a new sign-off`() async throws {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      for _ in 1...2 { try await sign(instance, by: iris, note: "Q4") }
      let signOffs = try await instance.identity.reviews.signOffs(of: instance.acme.project)
      #expect(signOffs.count == 2)
    }
  }

  @Test func `an overdue review is listed to reviewers until it is signed off again`() async throws
  {
    try await withInstance { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      try await sign(instance, by: iris, days: 10)
      let reviews = instance.identity.reviews
      instance.clock.advance(10 * 86_400)
      #expect(try await state(instance) == .current, "it's due today")
      instance.clock.advance(86_400)
      #expect(try await state(instance) == .overdue)
      let overdue = try await reviews.overdue(visibleTo: iris.administrator, limit: 5)
      #expect(overdue.map(\.signOff.project) == [instance.acme.project])
      let others = Administrator(
        id: ID("x"), email: "x@example.com", displayName: "X",
        grants: [Grant(role: .auditor, project: instance.globex.project)])
      #expect(try await reviews.overdue(visibleTo: others, limit: 5).isEmpty)
      try await sign(instance, by: try await instance.agent("iris", role: .auditor))
      #expect(try await reviews.overdue(visibleTo: iris.administrator, limit: 5).isEmpty)
    }
  }

  @Test func `due reviews of other projects, however many, hide none`() async throws {
    try await withInstance { instance in
      let olga = try await instance.agent("olga", role: .owner)
      let reviews = instance.identity.reviews
      let globex = instance.globex.project
      _ = try await reviews.signOff(
        globex, seen: try await reviews.summary(of: globex).seen.digest,
        dueOn: Day(instance.now).next,
        olga.request(nil))
      try await instance.database.write { connection in
        for _ in 1...10 {
          _ = try connection.run(
            """
            INSERT /* test */ INTO sign_off (project_id, signed_at, reviewer_id, reviewer_name,
              note, due_on, digest, pools, policy_stamp, latest)
            SELECT project_id, signed_at, reviewer_id, reviewer_name, note, due_on, digest, pools,
              policy_stamp, latest
            FROM sign_off
            """)
        }
      }
      let iris = try await instance.agent("iris", role: .auditor, project: instance.acme.project)
      try await sign(instance, by: iris, days: 5)
      let upcoming = try await reviews.upcoming(
        visibleTo: iris.administrator, within: 7, limit: 5)
      instance.clock.advance(6 * 86_400)
      let overdue = try await reviews.overdue(visibleTo: iris.administrator, limit: 5)
      #expect(upcoming.map(\.signOff.project) == [instance.acme.project])
      #expect(overdue.map(\.signOff.project) == [instance.acme.project])
    }
  }

  @Test func `the reviewer is reminded once by email on the due day`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      try await sign(instance, by: iris, days: 10)
      try await instance.identity.purgeExpired()
      #expect(try await instance.messages().isEmpty)
      instance.clock.advance(10 * 86_400)
      try await instance.identity.purgeExpired()
      try await instance.identity.purgeExpired()
      #expect(try await instance.messages() == ["mail review-due iris@desk.example.com"])
      let mail = try #require(try await instance.mails("review-due").first)
      #expect(mail.subject.contains(instance.acme.projectName))
      #expect(mail.body.contains("/projects/acme-app/review"))
      #expect(mail.body.contains(/is due on [A-Z][a-z]{2} \d{1,2}, \d{4}\./))
    }
  }

  @Test func `if the reviewer can't sign off anymore, those who can are reminded once`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.agent("iris", role: .auditor)
      _ = try await instance.agent("olga", role: .owner)
      _ = try await instance.agent("omar", role: .auditor, project: instance.acme.project)
      for (name, role) in [("zoe", Role.auditor), ("gus", .owner)] {
        _ = try await instance.agent(name, role: role, project: instance.globex.project)
      }
      _ = try await instance.agent("sam", role: .support)
      try await sign(instance, by: iris, days: 10)
      _ = try await instance.identity.administrators.revoke(
        Grant(role: .auditor), from: iris.administrator.id,
        by: .program(Author(actor: .commandLine)))
      instance.clock.advance(10 * 86_400)
      try await instance.identity.purgeExpired()
      try await instance.identity.purgeExpired()
      let mails = try await instance.mails("review-due")
      #expect(
        Set(mails.map(\.recipient)) == ["olga@desk.example.com", "omar@desk.example.com"])
      #expect(mails.count == 2)
      #expect(mails.allSatisfy { $0.body.contains("iris signed off the last one") })
    }
  }

  @Test func `a reminder that can't be sent to anyone isn't recorded as sent`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let iris = try await instance.agent("iris", role: .auditor, project: instance.acme.project)
      try await sign(instance, by: iris, days: 10)
      try await instance.database.write { connection in
        _ = try connection.run("DELETE /* test */ FROM administrator_grant")
      }
      instance.clock.advance(10 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try await instance.mails("review-due").isEmpty)
      _ = try await instance.agent("olga", role: .owner)
      try await instance.identity.purgeExpired()
      let mails = try await instance.mails("review-due")
      #expect(mails.map(\.recipient) == ["olga@desk.example.com"])
    }
  }

  @Test func `a review that was signed off again sends no reminder`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await sign(instance, by: try await instance.agent("iris", role: .auditor), days: 10)
      instance.clock.advance(5 * 86_400)
      try await sign(instance, by: try await instance.agent("iris", role: .auditor), days: 90)
      instance.clock.advance(10 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try await instance.mails("review-due").isEmpty)
    }
  }

  @Test func `a deleted project's sign-offs aren't inherited through its ID`() async throws {
    try await withInstance { instance in
      try await sign(instance, by: try await instance.agent("iris", role: .auditor))
      _ = try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: nil, by: .program(Instance.boss))
      #expect(try await instance.identity.reviews.signOffs(of: instance.acme.project).isEmpty)
    }
  }
}
