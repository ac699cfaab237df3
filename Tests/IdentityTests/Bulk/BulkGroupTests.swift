import Database
import Identity
import Testing

/// Bulk removals of users of several pools.
@Suite struct BulkGroupTests {
  @Test func `a list finds its users in every pool that the agent can search`() async throws {
    try await withInstance { instance in
      for pool in [instance.acme, instance.east, instance.globex] {
        try await instance.addUsers(2, in: pool)
      }
      let agent = try await instance.agent()
      let list = "USER-0@example.com\nu1\nnobody@example.com\nuser-0@example.com"
      let group = try await instance.group(
        try await instance.draft(across: list, by: agent), by: agent)
      let keys = Set([instance.acme, instance.east, instance.globex].map(\.key))
      #expect(Set(group.parts.map(\.scope.key)) == keys && group.isDraft)
      #expect((group.lines, group.users, group.factors) == (4, 6, 6))
      let results = try await instance.results(of: group)
      #expect(results == Array(repeating: ["open", "open", "twice"], count: 3).flatMap { $0 })
      #expect(group.misses.map(\.given) == ["nobody@example.com"])
      #expect(group.misses.allSatisfy { $0.user == nil })
    }
  }

  @Test func `users of pools that the agent can only see are reported, others aren't`()
    async throws
  {
    try await withInstance { instance in
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      let (acme, globex) = (instance.acme.project, instance.globex.project)
      let first = try await instance.agent("rita", project: acme)
      let blind = try await instance.group(
        try await instance.draft(across: "user-0@example.com", by: first), by: first)
      #expect(blind.parts.map(\.scope.key) == [instance.acme.key] && blind.misses.isEmpty)
      try await instance.identity.administrators.grant(
        Grant(role: .auditor, project: globex), to: first.administrator.id,
        by: Author(actor: .commandLine))
      let agent = try await instance.agent("rita", project: acme)
      let seen = try await instance.group(
        try await instance.draft(across: "user-0@example.com", by: agent), by: agent)
      #expect(seen.parts.map(\.scope.key) == [instance.acme.key])
      #expect(seen.misses.map { $0.user?.scope.key } == [instance.globex.key])
    }
  }

  @Test func `selected users that the agent can't find are reported, not looked into`()
    async throws
  {
    try await withInstance { instance in
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agent("rita", project: instance.acme.project)
      let users = [instance.acme, instance.globex].map {
        BulkSelection(project: $0.project, tenant: $0.tenant, account: ID("u0"))
      }
      let id = try await instance.identity.bulkRemovals.draft(
        users, by: agent.author, agent.session)
      let group = try await instance.group(id, by: agent)
      #expect(group.parts.map(\.scope.key) == [instance.acme.key])
      #expect(group.misses.map(\.given) == ["u0"] && group.misses.first?.user == nil)
    }
  }

  @Test func `one start removes the factors in all pools, each with its audit log`() async throws {
    try await withInstance { instance in
      let pools = [instance.acme, instance.east, instance.globex]
      let agent = try await instance.agent()
      let id = try await instance.removed(from: pools, by: agent)
      let group = try await instance.group(id, by: agent)
      #expect(try await instance.factors(of: "u0", in: pools) == [0, 0, 0])
      #expect(group.parts.allSatisfy { $0.job.state == .done && $0.job.note == "theft" })
      let rows = try await instance.wholeLog()
      #expect(rows.tally(of: .bulkStart) == 3 && rows.tally(of: .factorRemoveAll) == 3)
      // A second start changes nothing.
      try await instance.begin(group: id, by: agent)
      #expect(try await instance.wholeLog().count == rows.count)
    }
  }

  @Test func `a code that's due is asked for once, for all pools`() async throws {
    try await withInstance { instance in
      let pools = [instance.acme, instance.globex]
      for pool in pools { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agentWithDevice()
      instance.clock.advance(Int64(Support.usualStepUp) * 60)
      let id = try await instance.draft(across: "u0", by: agent)
      await expect("denied.codeRequired") { try await instance.begin(group: id, by: agent) }
      #expect(try await instance.group(id, by: agent).isDraft)
      let code = try #require(agent.device).code(at: instance.now)
      let begun = try await instance.begin(group: id, by: agent, code: code)
      #expect(begun.parts.map(\.job.state) == [.running, .running])
      #expect(try await instance.wholeLog().tally(of: .administratorStepUp) == 1)
    }
  }

  @Test func `the identity checks of every pool have to be confirmed`() async throws {
    try await withInstance { instance in
      try await instance.setSupportRules { $0.identityProof = ["Saw ID"] }
      try await instance.setSupportRules(in: instance.globex) {
        $0.identityProof = ["Saw ID", "Called back"]
      }
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agent()
      let id = try await instance.draft(across: "u0", by: agent)
      await expect("denied.proofMissing") {
        try await instance.begin(group: id, by: agent, proofs: ["Saw ID"])
      }
      let begun = try await instance.begin(
        group: id, by: agent, proofs: ["Saw ID", "Called back"])
      let proofs = Set(begun.parts.map(\.job.proof))
      #expect(proofs == ["Saw ID", "Saw ID\nCalled back"])
    }
  }

  @Test func `only pools that require it wait for a second administrator`() async throws {
    try await withInstance { instance in
      try await instance.setSupportRules(in: instance.globex) { $0.approvalOverUsers = 0 }
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agent()
      let group = try await instance.begin(
        group: try await instance.draft(across: "u0", by: agent), by: agent)
      let states = Dictionary(
        uniqueKeysWithValues: group.parts.map { ($0.scope.key, $0.job.state) })
      #expect(states == [instance.acme.key: .running, instance.globex.key: .waiting])
    }
  }

  @Test func `an agent who hit the limit of one pool can leave it out`() async throws {
    try await withInstance { instance in
      let pools = [instance.acme, instance.globex]
      try await instance.setSupportRules { $0.actionsPerHour = 1 }
      for pool in pools { try await instance.addUsers(2, in: pool) }
      let agent = try await instance.agent()
      try await instance.begin(try await instance.draft("u1", by: agent), by: agent)
      let id = try await instance.draft(across: "u0", by: agent)
      await expect("denied.held") { try await instance.begin(group: id, by: agent) }
      let parts = try await instance.group(id, by: agent).parts
      let free = parts.filter { $0.scope.key == instance.globex.key }.map(\.job.id)
      let begun = try await instance.identity.bulkRemovals.begin(
        group: id, only: Set(free), number: "", agent.request())
      #expect(begun.value.parts.map(\.job.id) == free)
    }
  }

  @Test func `the number of all users is typed if the removal is final in one pool`()
    async throws
  {
    try await withInstance { instance in
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(11, in: pool) }
      try await instance.setSupportRules(in: instance.globex) { $0.undoHours = 0 }
      let agent = try await instance.agent()
      let id = try await instance.draft(across: instance.addresses(0..<11), by: agent)
      await expect("denied.notConfirmed") {
        try await instance.begin(group: id, by: agent, number: "11")
      }
      let begun = try await instance.begin(group: id, by: agent, number: "22")
      #expect(begun.users == 22 && !begun.isDraft)
    }
  }

  @Test func `a draft is its creator's, is started only as a whole, and expires`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(1)
      let agent = try await instance.agent()
      let other = try await instance.agent("omar")
      let id = try await instance.draft(across: "u0", by: agent)
      let job = try await instance.group(id, by: agent).parts[0].job.id
      await expect("notFound") { try await instance.group(id, by: other) }
      await expect("notFound") { try await instance.job(job, by: agent) }
      await expect("notFound") { try await instance.begin(job, by: agent) }
      #expect(
        try await instance.identity.bulkRemovals.groups(for: agent.administrator.id).items.isEmpty)
      instance.clock.advance(BulkRemovals.draftLifetime + 1)
      try await instance.identity.purgeExpired()
      await expect("notFound") { try await instance.group(id, by: agent) }
    }
  }

  @Test func `an administrator sees the parts in pools where they can remove factors`()
    async throws
  {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let id = try await instance.removed(from: [instance.acme, instance.globex], by: agent)
      let local = try await instance.agent("omar", project: instance.globex.project)
      let group = try await instance.group(id, by: local)
      #expect(group.parts.map(\.scope.key) == [instance.globex.key] && group.misses.isEmpty)
      let auditor = try await instance.agent("nora", role: .auditor)
      await expect("notFound") { try await instance.group(id, by: auditor) }
    }
  }

  @Test func `one start decides about all parts, also in pools that the agent can't see then`()
    async throws
  {
    try await withInstance { instance in
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      _ = try await instance.agent("olivia", role: .owner)
      let (acme, administrators) = (instance.acme.project, instance.identity.administrators)
      let commandLine = Author(actor: .commandLine)
      let there = Grant(role: .support, project: instance.globex.project)
      let rita = try await instance.agent("rita", project: acme).administrator.id
      try await administrators.grant(there, to: rita, by: commandLine)
      let id = try await instance.draft(
        across: "u0", by: try await instance.agent("rita", project: acme))
      _ = try await administrators.revoke(there, from: rita, by: commandLine)
      let agent = try await instance.agent("rita", project: acme)
      try await instance.begin(group: id, by: agent)
      try await instance.runAll()
      try await administrators.grant(there, to: rita, by: commandLine)
      let again = try await instance.agent("rita", project: acme)
      let group = try await instance.group(id, by: again)
      #expect(!group.isDraft && group.parts.map(\.job.state) == [.done])
      try await instance.begin(group: id, by: again)
      try await instance.runAll()
      #expect(try await instance.group(id, by: again).parts.map(\.job.state) == [.done])
      #expect(
        try await instance.factors(of: "u0", in: [instance.acme, instance.globex]) == [0, 1])
      let rows = try await instance.wholeLog()
      #expect(rows.tally(of: .bulkStart) == 1 && rows.tally(of: .bulkFinish) == 1)
    }
  }

  @Test func `stopping says which parts are still pending approval`() async throws {
    try await withInstance { instance in
      let removals = instance.identity.bulkRemovals
      try await instance.setSupportRules(in: instance.globex) { $0.approvalOverUsers = 0 }
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agent()
      let id = try await instance.draft(across: "u0", by: agent)
      try await instance.begin(group: id, by: agent)
      for isStopped in [true, false] {
        let outcome = try await removals.stop(group: id, agent.request(nil))
        #expect(outcome == (isStopped, 1))
      }
    }
  }

  @Test func `a list has at most 1,000 lines`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      await expect("tooLong") {
        try await instance.draft(across: instance.addresses(0..<1_001), by: agent)
      }
    }
  }

  @Test func `the part of a deleted pool keeps its counts, but nothing else`() async throws {
    try await withInstance { instance in
      let (east, globex) = (instance.east, instance.globex)
      let agent = try await instance.agent()
      let id = try await instance.removed(from: [east, globex], by: agent)
      let before = try await instance.group(id, by: agent)
      #expect((before.users, before.factors) == (2, 2) && before.parts.allSatisfy { !$0.isDeleted })
      let other = try await instance.agent("omar")
      let local = try await instance.agent("rita", project: globex.project)
      let former = try await instance.agent("ines", project: east.project)
      try await instance.identity.pools.delete(
        project: east.project, tenant: east.tenant, by: Instance.boss)
      while try await instance.identity.purge() {}
      let count = try await instance.database.read { connection in
        try connection.first(
          "SELECT /* test */ count(*) FROM bulk_item WHERE scope_key = \(east.key)"
        ) { try $0.value(0) as Int }
      }
      #expect(count == 0)
      for reader in [agent, other] {
        let after = try await instance.group(id, by: reader)
        #expect((after.users, after.factors, after.parts.count) == (2, 2, 2))
        let part = try #require(after.parts.first { $0.isDeleted })
        #expect(part.scope.key == east.key && part.job.usersRemoved == 1)
        #expect(part.job.note.isEmpty && part.job.proof.isEmpty && !part.canUndo)
        let users = try await instance.identity.bulkRemovals.users(of: after).items
        #expect(users.map(\.part.scope.key) == [globex.key])
        #expect(
          try await instance.identity.bulkRemovals.groups(
            for: reader.administrator.id
          ).items.first?.users == 2)
      }
      // A role in the project doesn't reach what's left of its tenant.
      #expect(try await instance.group(id, by: local).parts.map(\.scope.key) == [globex.key])
      await expect("notFound") { try await instance.group(id, by: former) }
      let auditor = try await instance.agent("iris", role: .auditor)
      for (reader, ids) in [(local, [id]), (former, []), (auditor, [])] {
        let groups = try await instance.identity.bulkRemovals.groups(for: reader.administrator.id)
        #expect(groups.items.map(\.id) == ids && groups.next == nil)
      }
      instance.clock.advance(Int64(BulkRemovals.daysKept) * 86_400 + 1)
      try await instance.identity.purgeExpired()
      await expect("notFound") { try await instance.group(id, by: agent) }
    }
  }

  @Test func `a deleted pool leaves nothing of a draft or of a list for itself`() async throws {
    try await withInstance { instance in
      let east = instance.east
      for pool in [east, instance.globex] { try await instance.addUsers(1, in: pool) }
      let agent = try await instance.agent()
      let id = try await instance.draft(across: "u0", by: agent)
      _ = try await instance.draft("u0", by: agent, in: east)
      try await instance.identity.pools.delete(
        project: east.project, tenant: east.tenant, by: Instance.boss)
      #expect(
        try await instance.group(id, by: agent).parts.map(\.scope.key) == [instance.globex.key])
      while try await instance.identity.purge() {}
      #expect(try await instance.group(id, by: agent).isDraft)
      let count = try await instance.database.read { connection in
        try connection.first(
          "SELECT /* test */ count(*) FROM bulk_job WHERE scope_key = \(east.key)"
        ) { try $0.value(0) as Int }
      }
      #expect(count == 0)
    }
  }
}

extension BulkGroup {
  /// The number of factors in all parts.
  fileprivate var factors: Int { parts.reduce(0) { $0 + $1.job.factors } }
}
