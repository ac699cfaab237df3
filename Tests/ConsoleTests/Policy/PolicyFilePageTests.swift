import HTTP
import Identity
import Testing

@testable import Console

/// What pages say about the watched policy file.
@Suite struct PolicyFilePageTests {
  private static let warning = "The policy file can’t be read, so policies aren’t compared with it."
  private static let paths = [
    "/projects", "/projects/acme-retail", "/projects/acme-retail/policy",
    "/projects/acme-retail/review",
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

  @Test func `a pool of the file that doesn't exist needs attention`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let pool = #"{"project": "acme-retail", "tenant": "typo-1", "policyVersion": 1}"#
      let other = #"{"project": "nowhere", "policyVersion": 1}"#
      world.identity.policies.watch(try file(pool))
      let one = try await ada.get("/projects")
      #expect(
        one.says(
          "The policy file names 1 project or tenant that doesn’t exist: acme-retail/typo-1."))
      Markup.check(one)
      world.identity.policies.watch(try file(pool + "," + other))
      let two = try await ada.get("/projects")
      #expect(
        two.says("names 2 projects or tenants that don’t exist: acme-retail/typo-1 and nowhere."))
      world.identity.policies.watch(try file(""))
      let none = try await ada.get("/projects")
      #expect(!none.says("The policy file names"))
    }
  }
}
