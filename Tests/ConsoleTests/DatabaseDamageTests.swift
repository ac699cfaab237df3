import HTTP
import Identity
import Testing

@testable import Console

/// The warning of the home page about a damaged database.
@Suite struct DatabaseDamageTests {
  private static let heading = "The database is damaged"

  /// Returns what the home page says to an administrator.
  private func home(_ world: World, _ who: String) async throws -> Answer {
    try await Browser.signedIn(world, as: who).get("/projects")
  }

  @Test func `owners see faults of the latest integrity check, and nobody else does`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.identity.integrityChecks.record(["page 7: bad <cell>"])
      let owner = try await home(world, World.ada)
      let agent = try await home(world, World.tomas)
      #expect(owner.says(Self.heading) && owner.says("page 7: bad &lt;cell&gt;"))
      #expect(!agent.says(Self.heading))
      Markup.check(owner)
    }
  }

  @Test func `a check without faults ends the warning`() async throws {
    try await World.withSampleData { world in
      try await world.identity.integrityChecks.record(["page 7: bad cell"])
      try await world.identity.integrityChecks.record([])
      let owner = try await home(world, World.ada)
      #expect(!owner.says(Self.heading))
    }
  }
}
