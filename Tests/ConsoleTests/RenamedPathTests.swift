import HTTP
import Testing

@testable import Console

/// Paths of version 0.1 redirect to the current ones.
struct RenamedPathTests {
  @Test func `a renamed path redirects with its query, and an unknown one doesn't`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let eu = try await world.eu
      let moved = try await browser.get(eu + "/settings/desk?a=b%20c")
      #expect(moved.location == eu + "/settings/support?a=b%20c")
      #expect(try await browser.get(eu + "/settings/support").status == .ok)
      let attempts = try await browser.get(eu + "/users/\(World.chiara)/verdicts")
      #expect(attempts.location == eu + "/users/\(World.chiara)/code-attempts")
      #expect(try await browser.get(try #require(attempts.location)).status == .ok)
      #expect(try await browser.get(eu + "/outbox").location == eu + "/messages")
      #expect(try await browser.get("/what-if?q=a").location == "/sign-in-simulator?q=a")
      #expect(try await browser.get(eu + "/settings/nothing").status == .notFound)
      #expect(try await browser.get("/nothing/desk").status == .notFound)
    }
  }
}
