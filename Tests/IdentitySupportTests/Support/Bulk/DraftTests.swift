import Database
import Identity
import Testing

@testable import TestIdentity

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

  @Test func `a deleted pool leaves nothing of a draft`() async throws {
    try await withInstance { instance in
      let east = instance.east
      try await instance.addUsers(1, in: east)
      _ = try await instance.draft("u0", by: try await instance.agent(), in: east)
      try await instance.identity.pools.delete(
        project: east.project, tenant: east.tenant, by: .program(Instance.boss))
      while try await instance.identity.purge() {}
      let count = try await instance.database.read { connection in
        try connection.first(
          "SELECT /* test */ count(*) FROM bulk_job WHERE scope_key = \(east.key)"
        ) { try $0.next() as Int }
      }
      #expect(count == 0)
    }
  }
}
