import HTTP
import Identity
import Testing

@testable import Console

/// Who finds the project's API key on the pages that make use of it.
struct ProjectKeyTests {
  @Test(arguments: TestRole.all)
  func `only roles that can manage the project's keys see its API key`(cast: TestRole) async throws
  {
    try await World.furnished { world in
      let somebody = try await cast.browser(in: world)
      let key = try #require(try await world.identity.apiKeys.list(ID("acme-retail")).first?.text)
      let isWide = cast.reach == .instance || cast.reach == .project
      let sees = isWide && (cast.role == .owner || cast.role == .policy)
      let tenant = try await world.euShop.text
      for page in [
        "/projects/acme-retail", "/guidance/mandatory?project=acme-retail", try await world.eu,
        "/guidance/mandatory?project=acme-retail&tenant=\(tenant)",
      ] {
        let answer = try await somebody.get(page)
        guard answer.status == .ok else {
          #expect(!sees && !answer.says(key), "\(page)")
          continue
        }
        #expect(answer.says(key) == sees, "\(page)")
        let sentence = "Ask a policy admin or an owner of the project for the API key."
        #expect(answer.says(sentence) != sees, "\(page)")
        #expect(
          (answer.says("key=API_KEY") || answer.says("YOUR-API-KEY")) != sees, "\(page)")
      }
    }
  }
}
