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
}
