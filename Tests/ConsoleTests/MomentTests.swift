import Database
import Testing

@testable import Console

/// The number of read transactions that a response takes.
@Suite struct MomentTests {
  @Test func `a page takes one read transaction, and a download one per batch`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      var before = world.database.statistics.reads
      _ = try await browser.get(users)
      #expect(world.database.statistics.reads == before + 1)
      before = world.database.statistics.reads
      _ = try await browser.download(users + ".csv")
      #expect(world.database.statistics.reads > before + 2)
    }
  }
}
