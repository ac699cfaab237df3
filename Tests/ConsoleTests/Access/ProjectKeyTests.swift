import HTTP
import Identity
import Testing

@testable import Console

/// Which roles see the project's API key on the pages that use it.
struct ProjectKeyTests {
  @Test(arguments: TestRole.all)
  func `only roles that can manage the project's keys see its API key`(testRole: TestRole)
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await testRole.browser(in: world)
      let key = try #require(try await world.identity.apiKeys.list(ID("acme-retail")).first?.text)
      let isWide = testRole.reach == .instance || testRole.reach == .project
      let connects = testRole.role == .owner || testRole.role == .policy
      let sees = isWide && connects
      let tenant = try await world.euShop.text
      for page in [
        "/projects/acme-retail", "/guides/common/build?project=acme-retail", try await world.eu,
        "/guides/common/build?project=acme-retail&tenant=\(tenant)",
      ] {
        let answer = try await browser.get(page)
        guard answer.status == .ok else {
          #expect(!sees && !answer.says(key), "\(page)")
          continue
        }
        #expect(answer.says(key) == sees, "\(page)")
        let isGuide = page.hasPrefix("/guides")
        let asks = !sees && (isGuide || connects)
        #expect(answer.says("For the API key, ask an administrator") == asks, "\(page)")
        #expect(
          (answer.says("key=API_KEY") || answer.says("YOUR-API-KEY")) == asks, "\(page)")
        #expect(isGuide || answer.says("id=\"connect\"") == connects, "\(page)")
      }
    }
  }
}
