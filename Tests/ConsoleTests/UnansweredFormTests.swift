import HTTP
import Identity
import Testing

@testable import Console

/// Forms that were sent without what they need, or with more than they take.
struct UnansweredFormTests {
  @Test func `a comparison with both a pool and a date says that it takes one of them`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy/comparison"
      let answer = try await tomas.get(address + "?with=acme-retail&on=2026-01-01")
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("Choose a project or tenant, or enter a date, not both."))
      #expect(answer.says("value=\"acme-retail\"") && answer.says("value=\"2026-01-01\""))
      Markup.check(answer)
    }
  }

  @Test func `a suggested pool's name can't reverse the suggestion`() async throws {
    try await World.withSampleData { world in
      let author = Author(actor: .commandLine)
      _ = try await world.identity.pools.createProject(
        id: "reversed", displayName: "\u{202E}gnp", by: .program(author))
      let tenant = try await world.identity.pools.createTenant(
        in: ID("reversed"), PoolEdit(displayName: "zone"), by: .program(author)
      ).value
      let id = try #require(tenant.pool.tenant).text
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/projects/reversed/tenants/\(id)/policy/comparison")
      #expect(page.says("<option value=\"reversed\">\u{2068}gnp\u{2069}</option>"))
    }
  }

  @Test func `a list of users with two addresses on a line is shown again with the line's number`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/bulk-removals"
      let list = "ann@example.com\nbo@example.com, cy@example.com"
      let answer = try await ada.submit(address, ["list": list])
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("Line 2 has several email addresses."))
      #expect(answer.says("bo@example.com, cy@example.com"))
      Markup.check(answer)
      let nameless = try await ada.submit(address, ["list": "uid,name\nu-1,Ann\n,Bo"])
      #expect(nameless.status == .unprocessableContent)
      #expect(nameless.says("Line 3 has no UID or email address."))
    }
  }
}
