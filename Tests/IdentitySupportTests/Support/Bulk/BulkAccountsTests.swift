import Testing

@testable import Identity
@testable import TestIdentity

/// Actions on many users that change their accounts: ending their sessions, and disabling them.
struct BulkAccountsTests {
  private func draft(
    _ kind: BulkJob.Kind, of users: [ID<Account>], by agent: Agent, _ instance: Instance
  ) async throws -> Int64 {
    try await instance.identity.bulkRemovals.draft(
      users, kind, in: instance.acme, by: agent.author, agent.session)
  }

  /// Leaves an owner the permission of removing factors, but not that of disabling users.
  private func demote(_ agent: Agent, _ instance: Instance) async throws {
    let (administrators, caller) = (
      instance.identity.administrators, Caller.program(Author(actor: .commandLine))
    )
    let id = agent.administrator.id
    try await administrators.grant(Grant(role: .support), to: id, by: caller)
    try await administrators.revoke(Grant(role: .owner), from: id, by: caller)
  }

  private func isDisabled(_ id: ID<Account>, _ instance: Instance) async throws -> Bool? {
    try await instance.identity.accounts.find(instance.acme, id)?.disabled
  }

  @Test func `sessions of many users end under the rules of one user`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice).account
      let bob = try await instance.enrolled(.bob).account
      try await instance.addUsers(1)
      let (agent, sessions) = (try await instance.agent(), instance.identity.sessions)
      let before = try await sessions.count(alice)
      try #require(before > 0)
      let id = try await draft(
        .sessions, of: [alice.id, bob.id, ID("u0"), ID("nobody")], by: agent, instance)
      #expect(try await instance.job(id, by: agent).users == 2)
      try await instance.begin(id, by: agent)
      try await instance.mark(bob.id.text, isProtected: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: agent)
      #expect(job.state == .done && job.usersRemoved == 1 && job.sessionsEnded == before)
      #expect(try await instance.results(job) == ["removed", "protected", "none", "not-found"])
      #expect(try await sessions.count(alice) == 0)
      let rows = try await instance.log().filter { $0.action == .sessionsEnd }
      #expect(rows.map(\.objectID) == [alice.id.text])
      #expect(rows.first?.new(.bulkAction) == .number(Int(id)))
      let start = try #require(try await instance.wholeLog().first { $0.action == .bulkStart })
      #expect(start.object == .bulkSessions)
      #expect(try await instance.progress(of: id, by: agent).canUndo == false)
    }
  }

  @Test func `disabling requires the permission of disabling one user, in every step`() async throws
  {
    try await withInstance { instance in
      try await instance.addUsers(3)
      let users = (0..<3).map { ID<Account>("u\($0)") }
      let (agent, olga) = (
        try await instance.agent(), try await instance.agent("olga", role: .owner)
      )
      let refused = try await thrown(ActionDenial.self) {
        try await draft(.disabling, of: users, by: agent, instance)
      }
      #expect(refused.map(caseName) == "notAllowed")
      try await instance.setSupportRules { $0.approvalOverUsers = 1 }
      let id = try await draft(.disabling, of: users, by: olga, instance)
      #expect(try await instance.begin(id, by: olga, .left).state == .waiting)
      let approvals = instance.identity.approvals
      let approval = try #require(try await approvals.find(forJob: id, in: instance.acme))
      let denial = try await thrown(ActionDenial.self) {
        try await approvals.approve(approval.id, in: instance.acme, agent.request(nil))
      }
      #expect(denial.map(caseName) == "notAllowed")
      let oscar = try await instance.agent("oscar", role: .owner)
      _ = try await approvals.approve(approval.id, in: instance.acme, oscar.request(nil))
      _ = try await instance.identity.bulkRemovals.step(1)
      #expect(try await isDisabled(users[0], instance) == true)
      try await instance.identity.administrators.remove(
        olga.administrator.id, by: .program(Author(actor: .commandLine)))
      try await instance.runAll()
      #expect(try await isDisabled(users[1], instance) == false)
      let job = try #require(
        try await instance.identity.bulkRemovals.list(instance.acme).jobs.items.first)
      #expect(job.state == .stopped && job.ending == .permissionLost)
    }
  }

  @Test func `disabling is undone for those whose account nobody changed since`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(4)
      let users = (0..<4).map { ID<Account>("u\($0)") }
      let olga = try await instance.agent("olga", role: .owner)
      let (support, pool) = (instance.identity.support, instance.acme)
      _ = try await support.disable(pool, users[3], olga.request(.left))
      let id = try await draft(.disabling, of: users, by: olga, instance)
      try await instance.begin(id, by: olga, .left)
      try await instance.runAll()
      for user in users { #expect(try await isDisabled(user, instance) == true) }
      #expect(try await instance.progress(of: id, by: olga).undoable == 3)
      _ = try await support.enable(pool, users[1], olga.request(.mistake))
      _ = try await support.enable(pool, users[2], olga.request(.mistake))
      _ = try await support.disable(pool, users[2], olga.request(.compromised))
      #expect(try await instance.progress(of: id, by: olga).undoable == 1)
      let agent = try await instance.agent()
      let denial = try await thrown(ActionDenial.self) {
        try await instance.identity.bulkRemovals.undo(id, in: pool, agent.request(.mistake))
      }
      #expect(denial.map(caseName) == "notAllowed")
      let undone = try await instance.identity.bulkRemovals.undo(
        id, in: pool, olga.request(.mistake)
      ).value
      #expect(undone == 1)
      try await instance.runAll()
      let job = try await instance.job(id, by: olga)
      #expect(
        try await instance.results(job) == ["restored", "restored-before", "not-restored", "none"])
      let states = [false, false, true, true]
      for (user, state) in zip(users, states) {
        #expect(try await isDisabled(user, instance) == state)
      }
      let rows = try await instance.wholeLog()
      let end = try #require(rows.first { $0.action == .bulkFinishUndo })
      #expect(end.object == .bulkDisabling && end.new(.usersRestored) == .number(1))
    }
  }

  enum Step: CaseIterable {
    case begin, approval, run, undo
  }

  @Test(arguments: Step.allCases)
  func `the requester must keep the permission of disabling one user until a step is done`(
    step: Step
  ) async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      let users = (0..<2).map { ID<Account>("u\($0)") }
      let (olga, oscar) = (
        try await instance.agent("olga", role: .owner),
        try await instance.agent("oscar", role: .owner)
      )
      let (removals, pool) = (instance.identity.bulkRemovals, instance.acme)
      if step == .approval { try await instance.setSupportRules { $0.approvalOverUsers = 1 } }
      let id = try await draft(.disabling, of: users, by: olga, instance)
      switch step {
      case .begin:
        try await demote(olga, instance)
        let refused = await outcome {
          try await removals.begin(id, in: pool, number: "", olga.request(.left))
        }
        #expect(refused == "notAllowed")
      case .approval:
        try await instance.begin(id, by: olga, .left)
        try await demote(olga, instance)
        let approval = try #require(
          try await instance.identity.approvals.find(forJob: id, in: pool))
        _ = try await instance.identity.approvals.approve(
          approval.id, in: pool, oscar.request(nil))
        #expect(try await instance.job(id, by: oscar).ending == .overtaken(.permissionLost))
      case .run:
        try await instance.begin(id, by: olga, .left)
        _ = try await removals.step(1)
        try await demote(olga, instance)
        try await instance.runAll()
        #expect(try await instance.job(id, by: oscar).ending == .permissionLost)
        #expect(try await isDisabled(users[0], instance) == true)
      case .undo:
        try await instance.begin(id, by: olga, .left)
        try await instance.runAll()
        _ = try await removals.undo(id, in: pool, olga.request(.mistake))
        _ = try await removals.step(1)
        try await demote(olga, instance)
        try await instance.runAll()
        #expect(try await isDisabled(users[0], instance) == false)
        #expect(try await instance.progress(of: id, by: oscar).undoState == .partial)
      }
      #expect(try await isDisabled(users[1], instance) == (step == .undo))
    }
  }

  @Test func `stopping and rejecting require the permission of disabling one user`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      try await instance.setSupportRules { $0.approvalOverUsers = 1 }
      let users = (0..<2).map { ID<Account>("u\($0)") }
      let dora = try await instance.agent()
      let (olga, oscar) = (
        try await instance.agent("olga", role: .owner),
        try await instance.agent("oscar", role: .owner)
      )
      let (removals, approvals, pool) = (
        instance.identity.bulkRemovals, instance.identity.approvals, instance.acme
      )
      func ask() async throws -> (job: Int64, approval: Int64) {
        let id = try await draft(.disabling, of: users, by: olga, instance)
        try await instance.begin(id, by: olga, .left)
        return (id, try #require(try await approvals.find(forJob: id, in: pool)).id)
      }
      let (job, approval) = try await ask()
      let rejection = await outcome {
        try await approvals.refuse(approval, in: pool, answer: "no", dora.request(nil))
      }
      #expect(rejection == "notAllowed")
      _ = try await approvals.approve(approval, in: pool, oscar.request(nil))
      let stop = await outcome { try await removals.stop(job, in: pool, dora.request(nil)) }
      #expect(stop == "notAllowed")
      #expect(try await removals.stop(job, in: pool, oscar.request(nil)))
      let own = try await ask().approval
      try await demote(olga, instance)
      try await approvals.withdraw(own, in: pool, olga.request(nil))
    }
  }

  @Test func `an account that got the UID of a disabled one isn't enabled with it`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      let users = (0..<2).map { ID<Account>("u\($0)") }
      let olga = try await instance.agent("olga", role: .owner)
      let (identity, pool) = (instance.identity, instance.acme)
      let id = try await draft(.disabling, of: users, by: olga, instance)
      try await instance.begin(id, by: olga, .left)
      try await instance.runAll()
      let former = try #require(try await identity.accounts.find(pool, users[0]))
      try await identity.accounts.delete(pool, users[0], by: Instance.boss)
      try await instance.addUsers(1)
      _ = try await identity.support.disable(pool, users[0], olga.request(.compromised))
      let other = try #require(try await identity.accounts.find(pool, users[0]))
      #expect(other.generation == former.generation && other.key != former.key)
      #expect(try await instance.progress(of: id, by: olga).undoable == 1)
      _ = try await identity.bulkRemovals.undo(id, in: pool, olga.request(.mistake))
      try await instance.runAll()
      #expect(
        try await instance.results(instance.job(id, by: olga)) == ["not-restored", "restored"])
      #expect(try await isDisabled(users[0], instance) == true)
    }
  }

  @Test(arguments: [BulkJob.Kind.sessions, .disabling])
  func `administrators can't act on their own account in a list`(kind: BulkJob.Kind) async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      let users = (0..<2).map { ID<Account>("u\($0)") }
      let same = try await instance.identity.administrators.create(
        email: "user-1@example.com", displayName: "Una", password: Instance.consolePassword,
        grant: Grant(role: .owner), by: Author(actor: .commandLine))
      let session = try await instance.giveConsolePassword(same).session.session
      try await instance.reauthenticate(session)
      let una = Agent(session: session)
      let id = try await draft(kind, of: users, by: una, instance)
      let own = try await instance.results(instance.job(id, by: una))
      #expect(own == [kind == .sessions ? "none" : "open", "own"])
      guard kind == .disabling else { return }
      try await instance.setSupportRules { $0.approvalOverUsers = 1 }
      let olga = try await instance.agent("olga", role: .owner)
      let other = try await draft(kind, of: users, by: olga, instance)
      try await instance.begin(other, by: olga, .left)
      let approvals = instance.identity.approvals
      let approval = try #require(try await approvals.find(forJob: other, in: instance.acme)).id
      let denial = await outcome {
        try await approvals.approve(approval, in: instance.acme, una.request(nil))
      }
      #expect(denial == "ownAccount")
    }
  }
}
