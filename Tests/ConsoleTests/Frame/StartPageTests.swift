import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Where each role's work begins.
@Suite struct StartPageTests {
  @Test(arguments: [
    (World.ada, "/projects"), (World.iris, "/review"),
  ])
  func `the start page, the brand, and the sign-in lead to the work of the role`(
    who: String, start: String
  ) async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: who)
      #expect(try await browser.get("/").location == start)
      let page = try await browser.get(start)
      #expect(page.status == .ok && page.says("<a class=\"brand\" href=\"\(start)\">"))
      Markup.check(page)
    }
  }

  @Test func `typing begins in the search where the work of the role begins, and nowhere else`()
    async throws
  {
    try await World.withSampleData { world in
      let pages = ["/projects", "/review", "/users", "/users?q=chiara", try await world.eu]
      for (who, start) in [
        (World.ada, "/projects"), (World.iris, "/review"), (World.nadia, "/users"),
      ] {
        let browser = try await Browser.signedIn(world, as: who)
        for page in pages {
          let isFocused = try await browser.get(page).says("data-shortcut=\"/\" autofocus>")
          #expect(isFocused == (page == start), "\(who), \(page)")
        }
      }
    }
  }

  @Test func `an agent of one tenant begins in the tenant, and one of two in neither`() async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let page = try await nadia.get("/users")
      Markup.check(page)
      #expect(page.says("<h1>Find users</h1>") && page.values(of: "href").contains(eu + "/users"))
      #expect(page.currentEntries == 1)
      #expect(page.says("<li class=\"soft\">None</li>"))
      let (line, pool) = (Author(actor: .commandLine), try await world.euPool)
      let agent = try await world.identity.administrators.record(email: World.nadia).administrator
      let other = Grant(role: .support, project: ID("globex"))
      _ = try await world.identity.administrators.grant(other, to: agent.id, by: .program(line))
      #expect(try await nadia.get("/users").says("<h1>Search</h1>"))
      // A grant that was revoked doesn't count, nor one on a tenant that's gone.
      _ = try await world.identity.administrators.revoke(other, from: agent.id, by: .program(line))
      #expect(try await nadia.get("/users").says("<h1>Find users</h1>"))
      try await world.identity.pools.delete(
        project: pool.project, tenant: pool.tenant, by: .program(line))
      let after = try await nadia.get("/users")
      #expect(after.status == .ok && after.says("<h1>Search</h1>"))
    }
  }

  @Test func `an agent begins with the users of their recent work, in their pools only`()
    async throws
  {
    try await World.withSampleData { world in
      let (nadia, app) = try await Browser.withApp(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(!(try await nadia.get("/users").values(of: "href").contains(user)))
      let factor = try await world.factor(of: World.chiara).text
      let removal = "\(user)/factors/\(factor)/removal"
      _ = try await nadia.submit(
        removal, ["reason": "lost", "code": try world.code(of: app)])
      let page = try await nadia.get("/users")
      for heading in ["Last users", "Your removals that can still be restored"] {
        #expect(page.says(heading))
      }
      // What, and when.
      #expect(page.says("Factor removed · ") && page.says("data-ago"))
      #expect(page.values(of: "href").contains(user))
      Markup.check(page)
      let ada = try await Browser.signedIn(world)
      #expect(
        !(try await ada.get("/users").values(of: "href").contains(user)), "they aren't hers")
    }
  }

  @Test func `users of pools that an agent only reads aren't the agent's work`() async throws {
    try await World.withSampleData { world in
      let (nadia, user) = (
        try await Browser.signedIn(world, as: World.nadia),
        try await world.eu + "/users/\(World.chiara)"
      )
      let factor = try await world.factor(of: World.chiara).text
      _ = try await nadia.submit(
        "\(user)/factors/\(factor)/suspension", ["reason": "lost", "until": "tomorrow"])
      let line = Author(actor: .commandLine)
      let olga = try await world.identity.administrators.create(
        email: "olga@example.com", displayName: "Olga", password: Secret(World.password),
        grant: Grant(role: .support, project: ID("globex")), by: line)
      try await world.identity.administrators.grant(
        Grant(role: .auditor), to: olga.id, by: .program(line))
      for (browser, isWork) in [
        (nadia, true), (try await Browser.signedIn(world, as: "olga@example.com"), false),
      ] {
        #expect(try await browser.get("/users").values(of: "href").contains(user) == isWork)
        #expect(try await browser.get(user).status == .ok)
      }
    }
  }

  @Test func `the field in the bar finds tenants and projects, and opens the only hit`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let found = try await ada.get("/users?q=shop")
      #expect(found.says("Projects and tenants"))
      #expect(found.values(of: "href").contains(try await world.eu))
      #expect(try await ada.get("/users?q=globex&open=1").location == "/projects/globex")
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get("/users?q=us-shop").says("No results"))
      #expect(try await nadia.get("/users?q=globex").says("No results"))
    }
  }

  @Test func `policy admins find projects and tenants, but no users`() async throws {
    try await World.withSampleData { world in
      _ = try await world.identity.administrators.create(
        email: "pia@example.com", displayName: "Pia", password: Secret(World.password),
        grant: Grant(role: .policy), by: Author(actor: .commandLine))
      let pia = try await Browser.signedIn(world, as: "pia@example.com")
      #expect(try await pia.get("/").location == "/projects")
      #expect(try await pia.get("/users?q=shop").says("Projects and tenants"))
      #expect(try await pia.get("/users?q=\(World.chiara)").says("No results"))
      #expect(!(try await pia.get("/users").says("Locked now")))
    }
  }
}
