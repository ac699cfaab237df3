import Crypto
import Synchronization
import TestDatabases
import Testing

@testable import Identity

/// What the console prefetches.
struct PrefetchingTests {
  /// A query that was prefetched with other values than it's read with would run twice.
  @Test func `what a page of a pool reads first is prefetched as it's read`() async throws {
    let template = try await Template.shared.value
    let texts = Mutex<[String]>([])
    let options = TestDatabase.Options(trace: { text in texts.withLock { $0.append(text) } })
    try await TestDatabase.with(template.database, options) { test in
      let identity = try Identity(
        database: test.database, keys: try KeyRing(text: template.keys.text.revealedText),
        profile: .standalone, hasher: .cheap, mail: TestMail.writer, clock: FixedClock().wall,
        random: Dice(seed: 2).source)
      try await identity.prepare()
      let east = try await identity.scopes.find(project: Template.acme, tenant: template.east)
      let everywhere = Administrator(
        id: ID("one"), email: "", displayName: "", grants: [Grant(role: .owner)])
      let here = Administrator(
        id: ID("two"), email: "", displayName: "",
        grants: [Grant(role: .support, project: east.project, tenant: east.tenant)])
      for administrator in [everywhere, here] {
        texts.withLock { $0 = [] }
        let isFound: Bool? = await identity.atOneMoment {
          identity.prefetch((east.project, east.tenant))
          let token = String(repeating: "t", count: 43)
          let session = try? await identity.consoleSessions.find(token: token)
          _ = try? await identity.approvals.count(for: administrator)
          let scope = try? await identity.scopes.existing(
            project: east.project, tenant: east.tenant)
          identity.prefetchFrame(in: east, for: administrator, menuLength: 10)
          _ = try? await identity.policies.review(east.project, visibleTo: administrator)
          _ = try? await identity.pools.projectNames(visibleTo: administrator, limit: 10)
          _ = try? await identity.pools.tenantNames(
            project: east.project, visibleTo: administrator, limit: 10)
          _ = try? await identity.accounts.count(east)
          return session == nil && scope != nil
        }
        #expect(isFound == true)
        let ran = texts.withLock { $0 }
        #expect(ran.count >= 6)
        #expect(Set(ran).count == ran.count, "\(ran)")
      }
    }
  }
}
