import Database
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct BulkRemovalTests {
  @Test func `previewing a list shows who was found and changes nothing`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(3)
      _ = try await instance.account(.bob)
      try await instance.mark("u1", isProtected: true)
      try await instance.mark("u2", isLocked: true)
      let agent = try await instance.agent()
      let rows = try await instance.wholeLog().count
      let id = try await instance.draft(
        """
        USER-0@example.com
        u0
        user-1@example.com
        u2
        bob@example.com
        nobody@example.com
        dora@desk.example.com
        """, by: agent)
      let job = try await instance.job(id, by: agent)
      #expect(
        try await instance.results(job)
          == ["open", "twice", "protected", "locked", "none", "not-found", "not-found"])
      #expect((job.lines, job.users, job.factors, job.state) == (7, 1, 1, .draft))
      #expect(try await instance.wholeLog().count == rows)
      let counts = try await instance.identity.bulkRemovals.counts(of: job)
      #expect(
        counts == [nil: 1, .twice: 1, .protected: 1, .locked: 1, BulkResult.none: 1, .notFound: 2])
      // An owner can act on protected accounts.
      let owner = try await instance.agent("olga", role: .owner)
      let theirs = try await instance.job(
        try await instance.draft("u1\nu2", by: owner), by: owner)
      #expect(try await instance.results(theirs) == ["open", "locked"])
    }
  }

  @Test func `agents can't remove their own factors through a list`() async throws {
    try await withInstance { instance in
      var new = NewAccount()
      new.email = "Dora@desk.example.com"
      _ = try await instance.identity.accounts.create(
        instance.acme, new, by: .program(Instance.boss))
      let agent = try await instance.agent()
      let id = try await instance.draft("dora@desk.example.com", by: agent)
      let job = try await instance.job(id, by: agent)
      #expect(try await instance.results(job) == ["own"])
      await expect("nothingToDo") { try await instance.begin(id, by: agent) }
    }
  }

  @Test func `a draft is visible only to its creator and deleted after an hour`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      let agent = try await instance.agent()
      let other = try await instance.agent("omar")
      let id = try await instance.draft("u0", by: agent)
      await expect("notFound") { try await instance.job(id, by: other) }
      await expect("notFound") { try await instance.begin(id, by: other) }
      await expect("notFound") { try await instance.job(id, by: agent, in: instance.east) }
      await expect("notFound") {
        try await instance.begin(id, by: agent, in: instance.east)
      }
      await expect("notFound") {
        try await instance.identity.bulkRemovals.stop(id, in: instance.acme, agent.request(nil))
      }
      #expect(try await instance.identity.bulkRemovals.list(instance.acme).jobs.items.isEmpty)
      instance.clock.advance(BulkRemovals.draftLifetime + 1)
      try await instance.identity.purgeExpired()
      await expect("notFound") { try await instance.job(id, by: agent) }
    }
  }

  @Test(arguments: [false, true])
  func `an agent whose role was revoked while a page was open can't preview a list`(
    isRemoved: Bool
  ) async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      let agent = try await instance.agent()
      let administrators = instance.identity.administrators
      _ = try await instance.agent("olga", role: .owner)
      let (id, author) = (agent.administrator.id, Author(actor: .commandLine))
      _ =
        isRemoved
        ? try await administrators.remove(id, by: .program(author)).value
        : try await administrators.revoke(Grant(role: .support), from: id, by: .program(author))
          .value
      await expect("notAllowed") { try await instance.draft("u0", by: agent) }
    }
  }

  @Test func `each user on a list is subject to the rules of a single removal`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      try await instance.addUsers(2)
      let agent = try await instance.agent()
      let id = try await instance.draft("alice@example.com\nu0\nu1", by: agent)
      let job = try await instance.begin(id, by: agent)
      #expect(job.state == .running)
      #expect(try await instance.reload(alice.account).factors.count == 1)
      try await instance.runAll()
      let done = try await instance.job(id, by: agent)
      #expect(done.state == .done && done.usersDone == 3 && done.usersRemoved == 3)
      #expect((done.factorsRemoved, done.sessionsEnded) == (3, 2))
      #expect(try await instance.results(done) == ["removed", "removed", "removed"])
      #expect(try await instance.reload(alice.account).factors.isEmpty)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(alice.session)
      }
      let rows = try await instance.log()
      #expect(
        rows.prefix(5).map(\.action) == [
          .bulkFinish, .factorRemoveAll, .factorRemoveAll, .factorRemoveAll, .bulkStart,
        ])
      let row = try #require(rows.first { $0.objectID == alice.account.id.text })
      #expect((row.reason, row.note) == ("lost", "theft"))
      #expect((row.actorName, row.address) == ("Dora Support", "198.51.100.7"))
      #expect(row.new(.bulkRemoval) == .number(Int(id)))
      let mails = try await instance.identity.messages.list(instance.acme).items
      #expect(mails.filter { $0.purpose.contains("removed") }.count == 3)
    }
  }

  @Test func `a list started twice runs once, and the same list again does nothing`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(3)
      let agent = try await instance.agent()
      let id = try await instance.draft("u0\nu1\nu2", by: agent)
      _ = try await concurrently(4) { _ in try await instance.begin(id, by: agent) }
      try await instance.runAll(1)
      #expect(try await instance.log().tally(of: .bulkStart) == 1)
      #expect(try await instance.log().tally(of: .factorRemoveAll) == 3)
      #expect(try await instance.begin(id, by: agent).state == .done)
      let again = try await instance.draft("u0\nu1\nu2", by: agent)
      let job = try await instance.job(again, by: agent)
      #expect(try await instance.results(job) == ["none", "none", "none"])
    }
  }

  @Test func `concurrent batches and a restarted server repeat no removal`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(20)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<20), by: agent)
      try await instance.begin(id, by: agent)
      _ = try await instance.identity.bulkRemovals.step(7)
      #expect(try await instance.job(id, by: agent).usersDone == 7)
      let other = try instance.identity()
      _ = try await concurrently(6) { number in
        try await (number % 2 == 0 ? instance.identity : other).bulkRemovals.step(3)
      }
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect((job.usersDone, job.usersRemoved, job.state) == (20, 20, .done))
      #expect(try await instance.log().tally(of: .factorRemoveAll) == 20)
      #expect(try await instance.log().tally(of: .bulkFinish) == 1)
    }
  }

  @Test func `users who changed after the preview are skipped`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(6)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<6), by: agent)
      try await instance.begin(id, by: agent)
      let pool = instance.acme
      _ = try await instance.identity.accounts.delete(pool, ID("u0"), by: Instance.boss)
      _ = try await instance.identity.factorRemovals.remove(
        pool, ID("u1"), nil,
        try await instance.agent("olga", role: .owner).request())
      try await instance.addPhone("new of u2", to: ID("u2"))
      try await instance.mark("u3", isProtected: true)
      try await instance.mark("u4", isLocked: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(
        try await instance.results(job)
          == ["not-found", "none", "changed", "protected", "locked", "removed"])
      #expect((job.state, job.usersDone, job.usersRemoved) == (.done, 6, 1))
    }
  }

  @Test func `any agent of the pool can stop a bulk removal`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(10)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<10), by: agent)
      try await instance.begin(id, by: agent)
      _ = try await instance.identity.bulkRemovals.step(4)
      let omar = try await instance.agent("omar")
      let stops = try await concurrently(3) { _ in
        try await instance.identity.bulkRemovals.stop(id, in: instance.acme, omar.request(nil))
      }
      #expect(stops.count { $0 } == 1)
      #expect(try await instance.identity.bulkRemovals.step() == false)
      let job = try await instance.job(id, by: agent)
      #expect(job.state == .stopped && job.ending == .stopped(by: "omar"))
      #expect(try await instance.results(job).tally == ["removed": 4, "stopped": 6])
      let row = try #require(try await instance.log().first)
      #expect(
        row.action == .bulkStop && row.new(.usersDone) == .number(4)
          && row.new(.users) == .number(10))
    }
  }

  @Test func `a bulk removal stops when its creator is no longer authorized`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(4)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<4), by: agent)
      try await instance.begin(id, by: agent)
      _ = try await instance.identity.bulkRemovals.step(1)
      _ = try await instance.agent("olga", role: .owner)
      try await instance.identity.administrators.remove(
        agent.administrator.id, by: .program(Author(actor: .commandLine)))
      try await instance.runAll()
      let job = try #require(
        try await instance.identity.bulkRemovals.list(instance.acme).jobs.items.first)
      #expect(job.id == id && job.state == .stopped && job.usersRemoved == 1)
      #expect(job.ending == .permissionLost)
    }
  }

  @Test func `a failure for one user doesn't stop the others`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(5)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<5), by: agent)
      try await instance.begin(id, by: agent)
      try await instance.database.write { connection in
        try connection.addTrigger(
          "stubborn", before: "DELETE ON factor", when: "old.enrollment_id = 'f2'",
          "INSERT INTO instance (name, value) VALUES ('profile', 'another')")
      }
      var causes: [String] = []
      while try await instance.identity.bulkRemovals.step(report: { causes.append($0.description) })
      {}
      #expect(causes.count == 1 && causes[0].contains("instance"))
      let job = try await instance.job(id, by: agent)
      #expect(
        try await instance.results(job)
          == ["removed", "removed", "failed", "removed", "removed"])
      #expect((job.state, job.usersDone, job.usersRemoved) == (.done, 5, 4))
    }
  }

  @Test func `a failed line is skipped once, and no other in its place`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(4)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<4), by: agent)
      try await instance.begin(id, by: agent)
      let removals = instance.identity.bulkRemovals
      // Two servers did the same line, and both failed.
      for _ in 0..<2 {
        try await removals.skip(
          BulkLineFailure(
            poolKey: instance.acme.key, job: id, line: 1, cause: CancellationError()))
      }
      try await removals.stop(id, in: instance.acme, agent.request(nil))
      try await removals.skip(
        BulkLineFailure(poolKey: instance.acme.key, job: id, line: 2, cause: CancellationError()))
      let job = try await instance.job(id, by: agent)
      #expect(job.usersDone == 1)
      let failed = try await instance.results(job).map { $0 == "failed" }
      #expect(failed == [true, false, false, false])
    }
  }

  @Test func `C15: each user on a list counts toward the hourly action limit`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(40)
      try await instance.setSupportRules { $0.actionsPerHour = 10 }
      let agent = try await instance.agent()
      let eight = try await instance.draft(instance.addresses(0..<8), by: agent)
      #expect(try await instance.begin(eight, by: agent).state == .running)
      // Two actions are left, so three users require approval.
      let three = try await instance.draft(instance.addresses(8..<11), by: agent)
      #expect(try await instance.begin(three, by: agent).state == .waiting)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: three, in: instance.acme))
      #expect(approval.cause == .hour && approval.users == 3)
      // The request was the ninth action.
      let one = try await instance.draft("u20", by: agent)
      #expect(try await instance.begin(one, by: agent).state == .running)
      let last = try await instance.draft("u21", by: agent)
      await expect("held") { try await instance.begin(last, by: agent) }
    }
  }

  @Test func `removing many factors irreversibly requires typing the number of users`() async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(42)
      try await instance.setSupportRules { $0.actionsPerHour = 1_000 }
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<21), by: agent)
      await expect("notConfirmed") { try await instance.begin(id, by: agent, .stolen) }
      await expect("notConfirmed") {
        try await instance.begin(id, by: agent, number: "20", .compromised)
      }
      #expect(try await instance.begin(id, by: agent, number: " 21 ", .stolen).state == .running)
      let lost = try await instance.draft(instance.addresses(21..<42), by: agent)
      try await instance.setSupportRules { $0.undoHours = 0 }
      await expect("notConfirmed") { try await instance.begin(lost, by: agent, .lost) }
      try await instance.setSupportRules { $0.undoHours = 1 }
      #expect(try await instance.begin(lost, by: agent, .lost).state == .running)
    }
  }

  @Test func `a bulk removal requires a reason, identity checks, and re-authentication`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(1)
      try await instance.setSupportRules { $0.identityProof = ["called back"] }
      let agent = try await instance.agentWithDevice()
      instance.clock.advance(3_600 / 2)
      let id = try await instance.draft("u0", by: agent)
      let removals = instance.identity.bulkRemovals
      let device = try #require(agent.device)
      let none = agent.request(nil)
      await expect("reasonRequired+proofMissing+codeRequired") {
        try await removals.begin(id, in: instance.acme, number: "", none)
      }
      let unverified = agent.request(.lost)
      await expect("proofMissing+codeRequired") {
        try await removals.begin(id, in: instance.acme, number: "", unverified)
      }
      let withoutCode = agent.request(.lost, proofs: ["called back"])
      await expect("codeRequired") {
        try await removals.begin(id, in: instance.acme, number: "", withoutCode)
      }
      let wrong = agent.request(
        .lost, proofs: ["called back"], code: try device.wrongCode(at: instance.now))
      await expect("wrongCode") {
        try await removals.begin(id, in: instance.acme, number: "", wrong)
      }
      let right = agent.request(
        .lost, ticket: "T-1", proofs: ["called back"], code: try device.code(at: instance.now))
      let outcome = try await removals.begin(id, in: instance.acme, number: "", right)
      #expect(outcome.renewed != nil && outcome.value.state == .running)
      try await instance.runAll()
      let row = try #require(
        try await instance.log().first { $0.action == .factorRemoveAll })
      #expect((row.ticket, row.proof) == ("T-1", "called back"))
    }
  }

  @Test func `lists are deleted with their pool, and when they are old`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      try await instance.addUsers(2, in: instance.east, from: 10)
      let agent = try await instance.agent()
      let old = try await instance.draft("u0\nu1", by: agent)
      try await instance.begin(old, by: agent)
      try await instance.runAll()
      let theirs = try await instance.draft("u10\nu11\nnobody", by: agent, in: instance.east)
      try await instance.begin(theirs, by: agent, in: instance.east)
      try await instance.identity.pools.delete(
        project: instance.acme.project, tenant: instance.east.tenant,
        by: .program(Instance.boss))
      try await instance.runAll()
      while try await instance.identity.purge() {}
      #expect(try await instance.count("bulk_item") == 2)
      instance.clock.advance(Int64(BulkRemovals.daysKept) * 86_400 + 1)
      try await instance.identity.purgeExpired()
      #expect(try await instance.count("bulk_item") == 0)
    }
  }

  @Test func `a list of 10,000 lines runs to the end`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1_000)
      try await instance.setSupportRules {
        $0.approvalOverUsers = nil
        $0.actionsPerHour = 1_000
      }
      let agent = try await instance.agent()
      let list = instance.addresses(0..<1_000) + "\n" + instance.addresses(1_000..<10_000)
      let id = try await instance.draft(list, by: agent)
      let job = try await instance.begin(id, by: agent)
      #expect((job.lines, job.users, job.state) == (10_000, 1_000, .running))
      try await instance.runAll()
      let done = try await instance.job(id, by: agent)
      #expect((done.state, done.usersRemoved) == (.done, 1_000))
      let page = try await instance.identity.bulkRemovals.items(
        of: done, .notFound, after: "9990", limit: 5)
      #expect(page.items.map(\.line) == [9_991, 9_992, 9_993, 9_994, 9_995])
    }
  }
}
