import HTTP
import Identity
import Testing

@testable import Console

/// Bulk removals of users who are selected in a pool's list.
@Suite struct UserSelectionTests {
  @Test func `users of a pool's list are selected for a removal, with its filter and search`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let users = eu + "/users"
      let list = try await nadia.get(users + "?factor=totp&size=10")
      Markup.check(list)
      #expect(list.says("Remove second factors from selected users…"))
      #expect(!list.says("formaction"), "all users are on the page")
      let selected = try await nadia.submit(
        users + "?factor=totp", ["user": "\(users)/\(World.chiara)"], to: eu + "/bulk-removals")
      let preview = try await nadia.get(try #require(selected.location))
      #expect(preview.says("chiara.bianchi@example.com"))
      #expect(preview.says("Remove second factors from 1 user?"))
      let without = try await nadia.get(users + "?factor=none")
      #expect(!without.says("name=\"user\"") && !without.says("Remove second factors from"))
      let other = try await nadia.submit(
        users, ["user": "/projects/globex/users/\(World.chiara)"], to: eu + "/bulk-removals")
      #expect(other.status == .unprocessableContent && other.says("Select users"))
    }
  }

  @Test func `all users of a pool's filtered list are previewed, those of other pages too`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0..<12 {
        var new = NewAccount()
        new.email = "many\(number)@example.com"
        new.disabled = number != 3
        _ = try await world.identity.accounts.create(
          pool, new, by: .program(Author(actor: .commandLine)))
      }
      let ada = try await Browser.signedIn(world)
      let list = "/projects/globex/users?state=disabled&size=10"
      let page = try await ada.get(list)
      #expect(page.says("Remove second factors from all 11 users…"))
      #expect(page.says("Remove second factors from users selected on this page…"))
      let all = try #require(page.values(of: "formaction").first)
      let preview = try await ada.get(
        try #require(try await ada.submit(list, [:], to: all).location))
      #expect(preview.says("many0@example.com") && !preview.says("many3@example.com"))
      let found = try await ada.get("/projects/globex/users?q=many1&size=10")
      #expect(!found.says("formaction"))
      let query = "/projects/globex/bulk-removals?all=1&q=many1"
      let some = try await ada.submit(list, [:], to: query)
      let drafted = try await ada.get(try #require(some.location))
      #expect(drafted.says("many11@example.com") && !drafted.says("many2@example.com"))
    }
  }

  @Test func `a removal for all who match is refused if a search doesn't find them all`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0...Accounts.mostHits {
        var new = NewAccount()
        new.email = "many\(number)@example.com"
        _ = try await world.identity.accounts.create(
          pool, new, by: .program(Author(actor: .commandLine)))
      }
      let ada = try await Browser.signedIn(world)
      let answer = try await ada.submit(
        "/projects/globex/users", [:], to: "/projects/globex/bulk-removals?all=1&q=many")
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("Too many users match for one bulk removal."))
    }
  }

  @Test func `auditors see a pool's list without a way to select users`() async throws {
    try await World.withSampleData { world in
      let role = TestRole(role: .auditor, reach: .instance)
      let auditor = try await role.browser(in: world)
      let owner = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      // The rows of one are in the cache for the other.
      for _ in 0..<2 {
        #expect(try await owner.get(users).says("name=\"user\""))
        let list = try await auditor.get(users)
        #expect(list.says("chiara.bianchi@example.com"))
        #expect(!list.says("name=\"user\"") && !list.says("/bulk-removals"))
      }
    }
  }
}
