import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Undoing a bulk removal.
@Suite struct BulkUndoTests {
  private func undo(
    _ instance: Instance, _ id: Int64, by agent: Agent, in pool: Pool? = nil
  ) async -> String {
    await outcome {
      try await instance.identity.bulkRemovals.undo(
        id, in: pool ?? instance.acme, agent.request(.mistake, note: "wrong list"))
    }
  }

  @Test func `another administrator restores the factors of all users at once`() async throws {
    try await withInstance { instance in
      let removals = instance.identity.bulkRemovals
      try await instance.addUsers(3)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<3), by: agent)
      try await instance.begin(id, by: agent)
      try await instance.runAll()
      let other = try await instance.agent("omar")
      let first = await undo(instance, id, by: other)
      let running = try await instance.progress(of: id, by: other)
      #expect(first == "done" && running.isRunning && !running.canUndo)
      #expect(try await removals.list(instance.acme).undos.map(\.value) == [.running])
      try await instance.runAll()
      for user in 0..<3 { #expect(try await instance.factors(of: "u\(user)") == 1) }
      let progress = try await instance.progress(of: id, by: other)
      #expect(!progress.isRunning && progress.undoState == .done)
      #expect(try await removals.list(instance.acme).undos.map(\.value) == [.done])
      #expect(
        try await instance.results(progress.job) == ["restored", "restored", "restored"])
      let rows = try await instance.wholeLog().filter { $0.action == .factorRestore }
      #expect(rows.count == 3 && rows.allSatisfy { $0.reason == "mistake" })
      #expect(rows.allSatisfy { $0.actorName == "omar" && $0.new(.bulkRemoval) != nil })
      #expect(await undo(instance, id, by: other) == "nothingToDo")
    }
  }

  @Test func `the server is told of each removal and undo that begins, and need not look for them`()
    async throws
  {
    try await withInstance { instance in
      let work = instance.identity.bulkRemovals.work
      /// Whether the server was told since the last time.
      func isTold() async -> Bool {
        let isTold = work.isSent
        return await work.pause(atMost: .zero) && isTold
      }
      try await instance.addUsers(4)
      try await instance.setSupportRules { $0.approvalOverUsers = 2 }
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let one = try await instance.draft("u0", by: agent)
      #expect(await !isTold())
      try await instance.begin(one, by: agent)
      #expect(await isTold())
      try await instance.runAll()
      #expect(await !isTold())
      #expect(await undo(instance, one, by: other) == "done")
      #expect(await isTold())
      let list = try await instance.draft(instance.addresses(1..<4), by: agent)
      try await instance.begin(list, by: agent)
      let approval = try #require(
        try await instance.identity.approvals.find(forJob: list, in: instance.acme))
      _ = await isTold()
      _ = try await instance.identity.approvals.approve(
        approval.id, in: instance.acme, other.request(nil))
      #expect(await isTold())
    }
  }

  @Test func `the requester can't undo, and a stolen device is never restored`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let id = try await instance.removed(by: agent)
      #expect(await undo(instance, id, by: agent) == "ownRemoval")
      let stolen = try await instance.removed(from: instance.globex, by: agent, .stolen)
      let other = try await instance.agent("omar")
      #expect(await undo(instance, stolen, by: other, in: instance.globex) == "nothingToDo")
    }
  }

  @Test func `an undo restores only what can still be restored`() async throws {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      let other = try await instance.agent("omar")
      #expect(await undo(instance, id, by: other) == "done")
      try await instance.mark("u0", isProtected: true)
      try await instance.runAll()
      let job = try await instance.job(id, by: other)
      #expect(try await instance.results(job) == ["not-restored"])
      #expect(try await instance.factors(of: "u0") == 0)
    }
  }

  @Test func `an undo counts the users whose factors are kept, and records how many it restored`()
    async throws
  {
    try await withInstance { instance in
      let (acme, identity) = (instance.acme, instance.identity)
      try await instance.addUsers(5, in: acme)
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let id = try await instance.draft(instance.addresses(0..<5), by: agent)
      try await instance.begin(id, by: agent)
      try await instance.runAll()
      #expect(try await instance.progress(of: id, by: other).undoable == 5)
      _ = try await identity.factorRemovals.undo(
        acme, ID("u0"), try await instance.hold(of: "u0", in: acme), other.request(.mistake))
      try await identity.accounts.delete(acme, ID("u1"), by: Instance.boss)
      _ = try await identity.factorRemovals.purge(
        acme, ID("u2"), try await instance.hold(of: "u2", in: acme), other.request(.stolen))
      #expect(try await instance.progress(of: id, by: other).undoable == 2)
      let users = try await identity.bulkRemovals.undo(
        id, in: acme, other.request(.mistake, note: "wrong list")
      ).value
      #expect(users == 2)
      try await instance.runAll()
      let progress = try await instance.progress(of: id, by: other)
      let results = ["restored-before", "not-restored", "not-restored", "restored", "restored"]
      #expect(try await instance.results(progress.job) == results)
      let counts = progress.undone
      #expect((counts.restored, counts.restoredBefore, counts.notRestored) == (2, 1, 2))
      #expect(progress.undoState == .partial && counts.left == 0)
      #expect(try await identity.bulkRemovals.list(acme).undos.map(\.value) == [.partial])
      let rows = try await instance.wholeLog()
      #expect(rows.first { $0.action == .bulkUndo }?.new(.users) == .number(2))
      let end = try #require(rows.first { $0.action == .bulkFinishUndo })
      #expect(end.actorKind == "server" && end.new(.requester) == .text("omar"))
      #expect(end.new(.usersRestored) == .number(2) && end.new(.usersNotRestored) == .number(2))
      #expect(end.new(.usersRestoredBefore) == .number(1))
    }
  }

  @Test func `an undo restores what the bulk removal removed, also if another removal was undone`()
    async throws
  {
    try await withInstance { instance in
      let (acme, identity) = (instance.acme, instance.identity)
      try await instance.addUsers(1, in: acme)
      try await instance.addPhone("phone", to: ID("u0"))
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let id = try await instance.draft(instance.addresses(0..<1), by: agent)
      _ = try await identity.factorRemovals.remove(acme, ID("u0"), ID("f0"), agent.request())
      let single = try await instance.hold(of: "u0", in: acme)
      try await instance.begin(id, by: agent)
      try await instance.runAll()
      #expect(try await instance.factors(of: "u0") == 0)
      _ = try await identity.factorRemovals.undo(
        acme, ID("u0"), single, other.request(.mistake))
      #expect(try await instance.factors(of: "u0") == 1)
      #expect(await undo(instance, id, by: other) == "done")
      try await instance.runAll()
      #expect(try await instance.factors(of: "u0") == 2)
      let job = try await instance.job(id, by: other)
      #expect(try await instance.results(job) == ["restored"])
    }
  }

  @Test func `an undo that restores all users is recorded without others`() async throws {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      #expect(await undo(instance, id, by: try await instance.agent("omar")) == "done")
      try await instance.runAll()
      let rows = try await instance.wholeLog().filter { $0.action == .bulkFinishUndo }
      #expect(rows.count == 1 && rows.first?.new(.usersRestored) == .number(1))
      #expect(rows.first?.new(.usersNotRestored) == .number(0))
      #expect(rows.first?.new(.usersRestoredBefore) == nil)
    }
  }

  @Test func `an undo ends with the period for it`() async throws {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      instance.clock.advance(72 * 3_600)
      let other = try await instance.agent("omar")
      #expect(await undo(instance, id, by: other) == "nothingToDo")
    }
  }

  @Test func `a removal in one pool is undone as one by another administrator`() async throws {
    try await withInstance { instance in
      let (acme, removals) = (instance.acme, instance.identity.bulkRemovals)
      try await instance.addUsers(3, in: acme)
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let id = try await removals.draft(
        try BulkList("u0\nu1\nu2"), in: acme, by: agent.author, agent.session)
      func undo(by agent: Agent, in pool: Pool) async -> String {
        await outcome {
          try await removals.undo(id, in: pool, agent.request(.mistake, note: "wrong list"))
        }
      }
      #expect(await undo(by: other, in: acme) == "notFound")
      _ = try await removals.begin(
        id, in: acme, number: "", agent.request(.lost, note: "theft"))
      #expect(await undo(by: other, in: acme) == "nothingToDo")
      try await instance.runAll()
      #expect(await undo(by: agent, in: acme) == "ownRemoval")
      #expect(await undo(by: other, in: instance.globex) == "notFound")
      try await instance.mark("u1", isProtected: true)
      #expect(await undo(by: other, in: acme) == "done")
      try await instance.runAll()
      let job = try await removals.find(id, in: acme, for: other.administrator.id)
      let results = try await removals.items(of: job).items.map { $0.result?.rawValue }
      #expect(results == ["restored", "not-restored", "restored"])
      let rows = try await instance.wholeLog().filter { $0.action == .bulkUndo }
      #expect(rows.count == 1 && rows.first?.new(.users) == .number(3))
      #expect(try await removals.progress(of: job, in: acme).undo?.administratorName == "omar")
      #expect(await undo(by: other, in: acme) == "nothingToDo")
    }
  }

  @Test func `a removal in a pool that requires a verified caller isn't undone at once`()
    async throws
  {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      try await instance.setSupportRules { $0.callerVerification = .required }
      let other = try await instance.agent("omar")
      let progress = try await instance.progress(of: id, by: other)
      #expect(progress.undoable == 1 && progress.requiresCaller && !progress.canUndo)
      #expect(await undo(instance, id, by: other) == "nothingToDo")
    }
  }

  @Test func `an administrator of another pool can't undo a removal`() async throws {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      let other = try await instance.agent("omar", project: instance.globex.project)
      #expect(await undo(instance, id, by: other) == "notAllowed")
      let auditor = try await instance.agent("iris", role: .auditor)
      #expect(await undo(instance, id, by: auditor) == "notAllowed")
      #expect(try await instance.identity.support.held().isEmpty)
    }
  }

  @Test func `an undo stops when its administrator loses the role`() async throws {
    try await withInstance { instance in
      let id = try await instance.removed(by: try await instance.agent())
      _ = try await instance.agent("olivia", role: .owner)
      let other = try await instance.agent("omar")
      _ = await undo(instance, id, by: other)
      _ = try await instance.identity.administrators.revoke(
        Grant(role: .support), from: other.administrator.id,
        by: .program(Author(actor: .commandLine)))
      try await instance.runAll()
      let third = try await instance.agent("olga")
      let progress = try await instance.progress(of: id, by: third)
      #expect(try await instance.factors(of: "u0") == 0)
      #expect(progress.canUndo && !progress.isRunning)
    }
  }

  @Test func `an interrupted undo is partly undone, and its audit entry says how far it was`()
    async throws
  {
    try await withInstance { instance in
      let removals = instance.identity.bulkRemovals
      try await instance.addUsers(2)
      let agent = try await instance.agent()
      let id = try await instance.draft(instance.addresses(0..<2), by: agent)
      try await instance.begin(id, by: agent)
      try await instance.runAll()
      _ = try await instance.agent("olivia", role: .owner)
      let other = try await instance.agent("omar")
      #expect(await undo(instance, id, by: other) == "done")
      _ = try await removals.step(1)
      _ = try await instance.identity.administrators.revoke(
        Grant(role: .support), from: other.administrator.id,
        by: .program(Author(actor: .commandLine)))
      try await instance.runAll()
      let progress = try await instance.progress(of: id, by: agent)
      #expect(progress.undoState == .partial)
      #expect((progress.undone.processed, progress.undone.users) == (1, 2))
      #expect(try await removals.list(instance.acme).undos.map(\.value) == [.partial])
      let row = try #require(try await instance.wholeLog().first { $0.action == .bulkStopUndo })
      #expect(row.new(.usersRestored) == .number(1) && row.new(.users) == .number(2))
      #expect(row.new(.stopReason) == .code("permission-lost"))
      #expect(row.new(.requester) == .text("omar"))
      // The end of the undo period doesn't complete it.
      instance.clock.advance(72 * 3_600)
      #expect(try await instance.progress(of: id, by: agent).undoState == .partial)
    }
  }

  @Test func `the list of a pool has the state of each undo`() async throws {
    try await withInstance { instance in
      let (acme, removals) = (instance.acme, instance.identity.bulkRemovals)
      try await instance.addUsers(3, in: acme)
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      var jobs: [Int64] = []
      for user in 0..<3 {
        let id = try await instance.draft(instance.addresses(user..<(user + 1)), by: agent)
        try await instance.begin(id, by: agent)
        try await instance.runAll()
        jobs.append(id)
      }
      #expect(await undo(instance, jobs[0], by: other) == "done")
      #expect(await undo(instance, jobs[1], by: other) == "done")
      try await instance.identity.accounts.delete(acme, ID("u1"), by: Instance.boss)
      try await instance.runAll()
      let list = try await removals.list(acme)
      #expect(list.jobs.items.map { list.undos[$0.id] } == [nil, .partial, .done])
    }
  }

  @Test func `removals and undos of a deleted tenant end in the audit log`() async throws {
    try await withInstance { instance in
      let (east, removals) = (instance.east, instance.identity.bulkRemovals)
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let undone = try await instance.removed(from: east, by: agent)
      try await instance.addUsers(2, in: east, from: 10)
      let id = try await removals.draft(
        try BulkList("u10\nu11"), in: east, by: agent.author, agent.session)
      _ = try await removals.begin(id, in: east, number: "", agent.request(.lost))
      _ = try await removals.step(1)
      #expect(await undo(instance, undone, by: other, in: east) == "done")
      try await instance.identity.pools.delete(
        project: east.project, tenant: east.tenant, by: .program(Instance.boss))
      try await instance.runAll()
      let rows = try await instance.wholeLog()
      let stop = try #require(rows.first { $0.action == .bulkStop })
      #expect(stop.new(.usersDone) == .number(1) && stop.new(.users) == .number(2))
      let undo = try #require(rows.first { $0.action == .bulkStopUndo })
      #expect(undo.new(.usersRestored) == .number(0) && undo.new(.users) == .number(1))
      for row in [stop, undo] {
        #expect(row.new(.stopReason) == .code("scope-deleted") && row.tenant == east.tenant)
      }
    }
  }
}
