import Database
import Identity
import Testing

@testable import TestIdentity

@Suite struct ApprovalTests {
  /// Requires approval for removing the last factor, and enrolls Alice.
  private func mandatory(_ instance: Instance) async throws -> Device {
    _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
      edit in
      edit.pattern = .mandatory
    }
    try await instance.setSupportRules { $0.approvalForLastFactor = true }
    return try await instance.enrolled(.alice)
  }

  @Test func `a factor whose enrollment ID has a space is removed after an approval`() async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(id: "my phone", displayName: "Phone", phoneNumber: "+15555550100")
      ])
      _ = try await instance.identity.accounts.update(
        instance.acme, account.id, change, by: Instance.boss)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.pattern = .mandatory
      }
      try await instance.setSupportRules { $0.approvalForLastFactor = true }
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, account.id, nil, dora.request(.lost))
      let approval = try #require(
        try await instance.identity.approvals.waiting(for: account.id, in: instance.acme))
      guard case .done = try await approve(instance, approval.id, by: omar) else {
        throw Unexpected("not done")
      }
      #expect(try await instance.reload(account).factors.isEmpty)
    }
  }

  private func requestRemoval(
    _ instance: Instance, _ device: Device, by agent: Agent, factor: ID<Factor>? = nil
  ) async throws -> Approval {
    let outcome = try await instance.identity.factorRemovals.remove(
      instance.acme, device.account.id, factor,
      agent.request(.lost, note: "called <b>twice</b>", ticket: "T-7"))
    guard case .waits = outcome.value else { throw Unexpected("no approval is required") }
    let approval = try await instance.identity.approvals.waiting(
      for: device.account.id, in: instance.acme)
    return try #require(approval)
  }

  private func approve(
    _ instance: Instance, _ id: Int64, by agent: Agent, code: String = ""
  ) async throws -> ApprovalOutcome {
    try await instance.identity.approvals.approve(
      id, in: instance.acme, agent.request(nil, code: code)
    ).value
  }

  @Test func `L1: removing the last factor under a mandatory pattern requires approval`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let approval = try await requestRemoval(instance, alice, by: dora)
      #expect(try await instance.reload(alice.account).factors.count == 1)
      _ = try await instance.identity.sessions.check(alice.session)
      #expect((approval.cause, approval.kind, approval.state) == (.lastFactor, .factors, .waiting))
      #expect(approval.factorNames == ["phone"] && approval.note == "called <b>twice</b>")
      #expect(try await instance.log().first?.action == .approvalAsk)
      guard case .done(let removal) = try await approve(instance, approval.id, by: omar) else {
        throw Unexpected("not done")
      }
      #expect(removal.factors.count == 1)
      #expect(try await instance.reload(alice.account).factors.isEmpty)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(alice.session)
      }
      let rows = try await instance.log()
      #expect(
        rows.prefix(3).map(\.action) == [.approvalApprove, .factorRemoveAll, .approvalAsk])
      #expect(rows[0].actorName == "omar" && rows[0].new(.requester) == .text("Dora Support"))
      #expect(
        rows[1].actorName == "Dora Support" && rows[1].new(.approver) == .text("omar")
      )
      #expect((rows[1].reason, rows[1].ticket) == ("lost", "T-7"))
      let mails = try await instance.identity.messages.list(instance.acme).items
      #expect(mails.contains { $0.purpose.contains("removed") })
    }
  }

  @Test func `a removal requires approval only where the rule applies`() async throws {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      try await instance.addSecondDevice(to: alice)
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        $0.configuration.setSMS(true)
      }
      let dora = try await instance.agent()
      // One of two factors isn't the last.
      let first = try await instance.identity.factorRemovals.remove(
        instance.acme, alice.account.id, alice.factor, dora.request())
      guard case .done = first.value else { throw Unexpected("an approval is required") }
      for change: @Sendable (inout PolicyEdit) -> Void in [
        { $0.pattern = .account }, { $0.configuration.totp = nil },
      ] {
        _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss))
        { edit in
          edit.pattern = .mandatory
          edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: nil)
          edit.configuration.setSMS(false)
          change(&edit)
        }
        let account = try await instance.reload(alice.account)
        let removal = try await instance.identity.factorRemovals.consequences(
          instance.acme, account.id, nil)
        #expect(removal.approval == nil)
      }
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.pattern = .account
        edit.configuration.totp = TOTPConfiguration(state: .mandatory, adjacentIntervals: nil)
      }
      _ = try await requestRemoval(instance, alice, by: dora)
    }
  }

  @Test func `administrators can't approve requests by or about themselves`() async throws {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let dora = try await instance.agent()
      let approval = try await requestRemoval(instance, alice, by: dora)
      await expect("ownRequest") { try await approve(instance, approval.id, by: dora) }
      await expect("ownRequest") {
        try await instance.identity.approvals.refuse(
          approval.id, in: instance.acme, answer: "no", dora.request(nil))
      }
      let same = try await instance.identity.administrators.create(
        email: "ALICE@example.com", displayName: "Alice", password: Instance.consolePassword,
        grant: Grant(role: .support), by: Author(actor: .commandLine))
      let session = try await instance.giveConsolePassword(same).session.session
      try await instance.reauthenticate(session)
      await expect("ownAccount") {
        try await approve(instance, approval.id, by: Agent(session: session))
      }
      let policy = try await instance.agent("pia", role: .policy)
      await expect("notAllowed") { try await approve(instance, approval.id, by: policy) }
      let outsider = try await instance.agent("gus", project: instance.globex.project)
      await expect("notAllowed") { try await approve(instance, approval.id, by: outsider) }
      await expect("notAllowed") {
        try await instance.identity.approvals.refuse(
          approval.id, in: instance.acme, answer: "no", outsider.request(nil))
      }
      #expect(try await instance.reload(alice.account).factors.count == 1)
    }
  }

  @Test func `approving requires re-authentication`() async throws {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let approval = try await requestRemoval(instance, alice, by: try await instance.agent())
      let dev = try await instance.agentWithDevice()
      instance.clock.advance(3_600 / 2)
      await expect("codeRequired") { try await approve(instance, approval.id, by: dev) }
      let wrong = try #require(dev.device).wrongCode(at: instance.now)
      await expect("wrongCode") {
        try await approve(instance, approval.id, by: dev, code: wrong)
      }
      let code = try #require(dev.device).code(at: instance.now)
      guard case .done = try await approve(instance, approval.id, by: dev, code: code) else {
        throw Unexpected("not done")
      }
    }
  }

  @Test func `exactly one of several concurrent approvals succeeds`() async throws {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let approval = try await requestRemoval(instance, alice, by: try await instance.agent())
      let agents = [try await instance.agent("omar"), try await instance.agent("ina")]
      let outcomes = try await concurrently(6) { number in
        await outcome { try await approve(instance, approval.id, by: agents[number % 2]) }
      }
      #expect(outcomes.count { $0 == "decided" } == 5)
      #expect(try await instance.log().tally(of: .factorRemoveAll) == 1)
      #expect(try await instance.log().tally(of: .approvalApprove) == 1)
    }
  }

  @Test func `a request expires after a day, and nothing is removed`() async throws {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let approval = try await requestRemoval(instance, alice, by: try await instance.agent())
      instance.clock.advance(Approval.lifetime)
      let omar = try await instance.agent("omar")
      await expect("decided") { try await approve(instance, approval.id, by: omar) }
      #expect(try await instance.identity.approvals.count(for: omar.administrator) == 0)
      try await instance.identity.purgeExpired()
      try await instance.identity.purgeExpired()
      let rows = try await instance.log()
      #expect(rows.tally(of: .approvalExpire) == 1 && rows[0].actorKind == "server")
      let found = try await instance.identity.approvals.find(approval.id, in: instance.acme)
      #expect(found.state == .expired && found.deciderName == nil)
      #expect(try await instance.reload(alice.account).factors.count == 1)
      // A new request is allowed.
      _ = try await requestRemoval(instance, alice, by: try await instance.agent())
    }
  }

  @Test func `approving a request overtaken by a change says why and removes nothing`() async throws
  {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let first = try await requestRemoval(instance, alice, by: dora)
      try await instance.addSecondDevice(to: alice)
      guard case .overtaken(let why) = try await approve(instance, first.id, by: omar) else {
        throw Unexpected("done")
      }
      #expect(why == .factorEnrolled)
      #expect(try await instance.reload(alice.account).factors.count == 2)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .approvalOvertake && row.new(.outcome) == .code("factor-enrolled"))
      await expect("decided") { try await approve(instance, first.id, by: omar) }

      let second = try await requestRemoval(instance, alice, by: dora)
      _ = try await instance.identity.enrollments.withdraw(
        alice.session, enrollment: alice.factor.text, by: Instance.visitor)
      guard case .overtaken(let gone) = try await approve(instance, second.id, by: omar) else {
        throw Unexpected("done")
      }
      #expect(gone == .factorGone)

      let third = try await requestRemoval(instance, alice, by: dora)
      _ = try await instance.agent("olga", role: .owner)
      try await instance.identity.administrators.remove(
        dora.administrator.id, by: .program(Author(actor: .commandLine)))
      guard case .overtaken(let left) = try await approve(instance, third.id, by: omar) else {
        throw Unexpected("done")
      }
      #expect(left == .permissionLost)
    }
  }

  @Test func `a rejection requires a reason, and only the requester can withdraw a request`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let approvals = instance.identity.approvals
      let first = try await requestRemoval(instance, alice, by: dora)
      await expect("alreadyAsked") {
        try await instance.identity.factorRemovals.remove(
          instance.acme, alice.account.id, nil, omar.request())
      }
      await expect("answerRequired") {
        try await approvals.refuse(
          first.id, in: instance.acme, answer: " ", omar.request(nil))
      }
      await expect("answerTooLong") {
        try await approvals.refuse(
          first.id, in: instance.acme, answer: String(repeating: "x", count: 501),
          omar.request(nil))
      }
      await expect("othersRequest") {
        try await approvals.withdraw(first.id, in: instance.acme, omar.request(nil))
      }
      try await approvals.refuse(
        first.id, in: instance.acme, answer: "Call them back.", omar.request(nil))
      #expect(try await instance.log().first?.note == "Call them back.")
      await expect("decided") { try await approve(instance, first.id, by: omar) }
      let second = try await requestRemoval(instance, alice, by: dora)
      try await approvals.withdraw(
        second.id, in: instance.acme, dora.request(nil))
      await expect("decided") { try await approve(instance, second.id, by: omar) }
      await expect("notFound") { try await approvals.find(second.id, in: instance.east) }
      let decided = try await approvals.decided(visibleTo: omar.administrator)
      #expect(decided.items.map(\.state) == [.withdrawn, .refused])
      #expect(decided.items.last?.answer == "Call them back.")
      let page = try await approvals.decided(visibleTo: omar.administrator, limit: 1)
      let next = try await approvals.decided(
        visibleTo: omar.administrator, after: page.next, limit: 1)
      #expect(page.items.map(\.id) + next.items.map(\.id) == [second.id, first.id])
      instance.clock.advance(31 * 86_400)
      #expect(try await approvals.decided(visibleTo: omar.administrator).items.isEmpty)
      instance.clock.advance(60 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try await instance.count("approval") == 0)
      #expect(try await instance.reload(alice.account).factors.count == 1)
    }
  }

  @Test func `administrators see requests they may act on, and the count excludes their own`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await mandatory(instance)
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let outsider = try await instance.agent("gus", project: instance.globex.project)
      let policy = try await instance.agent("pia", role: .policy)
      _ = try await requestRemoval(instance, alice, by: dora)
      let approvals = instance.identity.approvals
      for (agent, seen, count) in [(dora, 1, 0), (omar, 1, 1), (outsider, 0, 0), (policy, 0, 0)] {
        #expect(try await approvals.waiting(visibleTo: agent.administrator).count == seen)
        #expect(try await approvals.count(for: agent.administrator) == count)
      }
    }
  }

  @Test func `a bulk removal over the limit requires approval, and starts once approved`()
    async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(6)
      try await instance.setSupportRules { $0.approvalOverUsers = 2 }
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let two = try await instance.draft("u0\nu1", by: dora)
      #expect(try await instance.begin(two, by: dora).state == .running)
      let three = try await instance.draft("u2\nu3\nu4", by: dora)
      #expect(try await instance.begin(three, by: dora).state == .waiting)
      try await instance.runAll()
      #expect(try await instance.log().tally(of: .factorRemoveAll) == 2)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: three, in: instance.acme))
      #expect((approval.cause, approval.users, approval.job) == (.many, 3, three))
      guard case .begun(job: three) = try await approve(instance, approval.id, by: omar) else {
        throw Unexpected("not begun")
      }
      try await instance.runAll()
      let job = try await instance.job(three, by: dora)
      #expect((job.state, job.usersRemoved, job.approverName) == (.done, 3, "omar"))
      let row = try #require(try await instance.log().first { $0.objectID == "u2" })
      #expect(row.actorName == "Dora Support")
      #expect(row.new(.approver) == .text("omar"))
      // Approved users don't count toward the requester's hourly limit.
      let eligibility = try await instance.identity.bulkRemovals.eligibility(
        dora.session, on: job, in: instance.acme)
      #expect(eligibility.support.actionsLeft == 20 - 2 - 1)
    }
  }

  @Test func `a rejected, withdrawn, or expired bulk removal does nothing`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(3)
      try await instance.setSupportRules { $0.approvalOverUsers = 0 }
      let (dora, omar) = (try await instance.agent(), try await instance.agent("omar"))
      let approvals = instance.identity.approvals
      var jobs: [Int64] = []
      for uid in ["u0", "u1", "u2"] {
        jobs.append(try await instance.draft(uid, by: dora))
        try await instance.begin(try #require(jobs.last), by: dora)
      }
      let ids = try await approvals.waiting(visibleTo: omar.administrator).map(\.id)
      try await approvals.refuse(
        ids[0], in: instance.acme, answer: "Too many.", omar.request(nil))
      try await approvals.withdraw(ids[1], in: instance.acme, dora.request(nil))
      instance.clock.advance(Approval.lifetime + 1)
      try await instance.identity.purgeExpired()
      try await instance.runAll()
      var endings: [BulkEnding?] = []
      for id in jobs {
        let job = try await instance.job(id, by: dora)
        #expect(job.state == .stopped && job.usersRemoved == 0)
        #expect(try await instance.results(job) == ["stopped"])
        endings.append(job.ending)
      }
      #expect(
        endings == [
          .refused(by: "omar", answer: "Too many."), .withdrawn(by: "Dora Support"), .expired,
        ])
    }
  }

  @Test func `a user on the list can't approve the bulk removal`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      try await instance.setSupportRules { $0.approvalOverUsers = 1 }
      let dora = try await instance.agent()
      let id = try await instance.draft("u0\nu1", by: dora)
      try await instance.begin(id, by: dora)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: id, in: instance.acme))
      let same = try await instance.identity.administrators.create(
        email: "user-1@example.com", displayName: "Una", password: Instance.consolePassword,
        grant: Grant(role: .support), by: Author(actor: .commandLine))
      let session = try await instance.giveConsolePassword(same).session.session
      try await instance.reauthenticate(session)
      await expect("ownAccount") {
        try await approve(instance, approval.id, by: Agent(session: session))
      }
    }
  }
}
