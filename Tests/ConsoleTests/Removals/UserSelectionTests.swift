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
      #expect(list.says("Remove factors…") && !list.says("Send links"))
      let whole = try await nadia.get(users + "?factor=totp&size=10&select=page")
      Markup.check(whole)
      #expect(whole.says("\" checked") && !whole.says("select=all"), "all users are on the page")
      let selected = try await nadia.submit(
        users + "?factor=totp", ["user": "\(users)/\(World.chiara)"], to: eu + "/bulk-removals")
      let preview = try await nadia.get(try #require(selected.location))
      #expect(preview.says("chiara.bianchi@example.com"))
      #expect(preview.says("Remove second factors from 1 user?"))
      let without = try await nadia.get(users + "?factor=none")
      #expect(without.says("Send links") && !without.says("Remove factors…"))
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
      #expect(!page.says("select=all"), "the users of all pages are a second step")
      let rows = try await ada.get(list + "&select=page")
      #expect(rows.says("Select all 11 users") && rows.says("\" checked"))
      let step = try #require(rows.values(of: "href").first { $0.contains("select=all") })
      let whole = try await ada.get(step)
      Markup.check(whole)
      #expect(whole.says("All 11 users selected") && whole.says("\" checked disabled"))
      #expect(!whole.says("Send links"), "not every user of this list can be sent one")
      let all = try #require(whole.values(of: "formaction").first)
      let preview = try await ada.get(
        try #require(try await ada.submit(list, [:], to: all).location))
      #expect(preview.says("many0@example.com") && !preview.says("many3@example.com"))
      let found = try await ada.get("/projects/globex/users?q=many1&size=10")
      #expect(!found.says("select=all"))
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

  @Test func `the file of selected users has them alone, and requires the permission`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let users = try await world.eu + "/users"
      let file = users + ".csv?selection=1"
      #expect(try await ada.get(users).values(of: "formaction").contains(file))
      let one = try await ada.submit(users, ["user": "\(users)/\(World.chiara)"], to: file)
      let lines = one.text.split(separator: "\r\n")
      #expect(lines.count == 2 && one.text.contains("bianchi"))
      #expect(try await ada.submit(users, [:], to: file).location == users)
      #expect(try await ada.get(users).says("Select users in the list."))
      world.clock.advance(seconds: 16 * 60)
      let asked = try await ada.submit(users, ["user": "\(users)/\(World.chiara)"], to: file)
      #expect(asked.says("Download users of") && asked.says("name=\"user\""))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(!(try await nadia.get(users).says(".csv")))
    }
  }

  @Test(arguments: [
    ("sessions", "End all sessions of 1 user?", "End sessions of 1 user"),
    ("disabling", "Disable 1 user?", "Disable 1 user"),
  ])
  func `sessions of selected users are ended, and selected users disabled and enabled again`(
    kind: String, question: String, button: String
  ) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let (users, path) = (eu + "/users", eu + "/bulk-removals?kind=\(kind)")
      #expect(try await ada.get(users).values(of: "formaction").contains(path))
      let none = try await ada.submit(users, [:], to: path)
      #expect(none.location == users)
      let unknown = eu + "/bulk-removals?kind=unknown"
      let pool = try await world.euPool
      _ = try await world.identity.pools.update(
        project: pool.project, tenant: pool.tenant, by: .program(Author(actor: .commandLine))
      ) { $0.signIn.anonymous = true }
      let signedUp = try await world.identity.signIns.signUp(
        pool, NewAccount(), by: Author(actor: .visitor)
      ).account
      let user = "\(users)/\(signedUp.id.text)"
      #expect(try await ada.submit(users, ["user": user], to: unknown).status == .badRequest)
      let address = try #require(try await ada.submit(users, ["user": user], to: path).location)
      let draft = try await ada.get(address)
      Markup.check(draft)
      #expect(draft.says(question) && draft.says(button) && draft.says("Nothing is changed yet."))
      #expect(!draft.says("Codes rejected"), "reasons of the action on one user")
      let begun = try await ada.submit(address, ["reason": "left"])
      #expect(begun.location == address)
      let running = try await ada.get(address)
      Markup.check(running)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let end = address + "/end"
      #expect(running.says("action=\"\(end)\""))
      #expect(try await nadia.get(address).says("action=\"\(end)\"") == (kind == "sessions"))
      if kind == "disabling" {
        #expect(try await nadia.submit(users, [:], to: end).status == .forbidden)
      }
      while try await world.identity.bulkRemovals.step() {}
      let done = try await ada.get(address)
      Markup.check(done)
      let file = try await ada.get(address + "/result.csv")
      #expect(!file.text.contains("Factors removed"))
      let cell =
        kind == "sessions"
        ? ",\"ended 1 session\",\"1\""
        : ",\"disabled, sessions ended: 1\",\"1\""
      #expect(file.text.contains(cell), "\(file.text)")
      guard kind == "disabling" else { return }
      #expect(done.says("Disabled (1)") && done.says("Undo for 1 user…"))
      let undo = try await ada.get(address + "/undo")
      Markup.check(undo)
      #expect(undo.says("Enable 1 user?"))
      let other = try await nadia.get(address + "/undo")
      Markup.check(other)
      #expect(other.says("Changing users requires the") && !other.says("name=\"reason\""))
      #expect(try await ada.submit(address + "/undo", ["reason": "mistake"]).location == address)
      while try await world.identity.bulkRemovals.step() {}
      #expect(try await ada.get(address).says("Disabled, then enabled"))
      #expect(try await !nadia.get(users).says("Disable…"))
      #expect(try await nadia.submit(users, ["user": user], to: path).status == .forbidden)
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
