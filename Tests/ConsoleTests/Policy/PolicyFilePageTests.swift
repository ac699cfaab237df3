import HTTP
import Identity
import Testing

@testable import Console

/// What pages say about the watched policy file.
@Suite struct PolicyFilePageTests {
  private static let warning = "The policy file can’t be read, so policies aren’t compared with it."
  private static let paths = [
    "/", "/projects/acme-retail", "/projects/acme-retail/policy", "/projects/acme-retail/review",
    "/projects/acme-retail/tenants",
  ]

  private func file(_ pools: String) throws -> PolicyFile {
    try PolicyFile(
      parsing: Array(#"{"format": "countersign-policy/1", "pools": [\#(pools)]}"#.utf8))
  }

  @Test func `a policy file that can't be read doesn't look like one that nothing differs from`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for path in Self.paths {
        #expect(try await !ada.get(path).says(Self.warning), "\(path) without a file")
      }
      world.identity.policies.watch(nil)
      for path in Self.paths {
        let page = try await ada.get(path)
        #expect(page.says(Self.warning), "\(path)")
        Markup.check(page)
      }
      world.identity.policies.watch(try file(""))
      for path in Self.paths {
        #expect(try await !ada.get(path).says(Self.warning), "\(path) with a file")
      }
    }
  }
}
