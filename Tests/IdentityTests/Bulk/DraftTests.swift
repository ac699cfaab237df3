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
}
