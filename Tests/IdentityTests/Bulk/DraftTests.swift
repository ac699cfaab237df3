import Identity
import Testing

/// Tests bulk removals that were previewed but not started.
struct DraftTests {
  @Test func `only the five newest drafts of an agent are stored`() async throws {
    try await withInstance { instance in
      try await instance.addUsers(2)
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let theirs = try await instance.draft("u1", by: other)
      var drafts: [Int64] = []
      for _ in 0..<7 {
        instance.clock.advance(1)
        drafts.append(try await instance.draft("u0", by: agent))
      }
      for (number, draft) in drafts.enumerated() {
        let found = await outcome { try await instance.job(draft, by: agent) }
        #expect((found == "notFound") == (number < 2))
      }
      _ = try await instance.job(theirs, by: other)
      // A started removal is no longer a draft.
      try await instance.begin(drafts[2], by: agent)
      for _ in 0..<6 { _ = try await instance.draft("u0", by: agent) }
      _ = try await instance.job(drafts[2], by: agent)
    }
  }

  @Test func `only the five newest previews without a match are stored`() async throws {
    try await withInstance { instance in
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let theirs = try await instance.draft(across: "nobody", by: other)
      var drafts: [Int64] = []
      for _ in 0..<(BulkRemovals.mostDrafts + 3) {
        instance.clock.advance(1)
        drafts.append(try await instance.draft(across: "nobody", by: agent))
      }
      #expect(try await instance.count("bulk_group") == BulkRemovals.mostDrafts + 1)
      for (number, draft) in drafts.enumerated() {
        let found = await outcome { try await instance.group(draft, by: agent) }
        #expect((found == "notFound") == (number < 3))
      }
      _ = try await instance.group(theirs, by: other)
    }
  }

  @Test func `drafts and other pools' removals don't displace removals from the list of groups`()
    async throws
  {
    try await withInstance { instance in
      let removals = instance.identity.bulkRemovals
      for pool in [instance.acme, instance.globex] { try await instance.addUsers(3, in: pool) }
      let (agent, other) = (try await instance.agent(), try await instance.agent("omar"))
      let local = try await instance.agent("rita", project: instance.globex.project)
      func run(_ uid: String, by agent: Agent) async throws -> Int64 {
        let id = try await instance.draft(across: uid, by: agent)
        try await instance.begin(group: id, by: agent)
        try await instance.runAll()
        return id
      }
      let theirs = try await run("u0", by: local)
      let acme = try await instance.agent("ann", project: instance.acme.project)
      let own = [
        try await run("u0", by: acme), try await run("u1", by: acme),
        try await run("u2", by: acme),
      ]
      for _ in 0..<(BulkRemovals.mostDrafts + 3) {
        instance.clock.advance(1)
        _ = try await instance.draft(across: "u1", by: other)
      }
      // The groups of replaced drafts are deleted with them.
      #expect(try await instance.count("bulk_group") == 4 + BulkRemovals.mostDrafts)
      for _ in 0..<3 { _ = try await instance.draft(across: "nobody", by: other) }
      let first = try await removals.groups(for: agent.administrator.id, limit: 2)
      #expect(first.items.map(\.id) == [own[2], own[1]])
      let second = try await removals.groups(
        for: agent.administrator.id, after: first.next, limit: 2)
      #expect(second.items.map(\.id) == [own[0], theirs] && second.next == nil)
      let seen = try await removals.groups(for: local.administrator.id, limit: 1)
      #expect(seen.items.map(\.id) == [theirs] && seen.next == nil)
    }
  }
}
