import HTTP
import Identity
import Testing

@testable import Console

/// The page that permanently deletes a removed factor early.
@Suite struct PurgePageTests {
  @Test func `the agent who removed a factor can permanently delete it from the user's page`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await nadia.submit(
        "\(user)/factors/\(try await world.factor(of: World.chiara).text)/removal",
        ["reason": "lost"])
      let page = try await nadia.get(user)
      #expect(page.says("Only another administrator can restore it."))
      #expect(page.says("<bdi>Pixel 9</bdi> permanently…"))
      let purge = try #require(page.values(of: "href").first { $0.hasSuffix("/purge") })
      let asked = try await nadia.get(purge)
      try Snapshot.check(asked.text, named: "purge.html")
      Markup.check(asked)
      let wrong = try await nadia.submit(purge, ["reason": "", "ticket": "a\nb"])
      #expect(wrong.status == .unprocessableContent)
      #expect(
        wrong.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
          == ["#reason", "#ticket"])
      Markup.check(wrong)
      let done = try await nadia.submit(purge, ["reason": "stolen", "ticket": "HD-7"])
      #expect(done.location == user)
      let after = try await nadia.get(user)
      #expect(after.says("Permanently deleted the factor “Pixel 9”."))
      #expect(!after.says("Recently removed"))
      #expect(after.says("Removed factors permanently deleted early") && after.says("HD-7"))
      #expect(try await nadia.get(purge).location == user)
      #expect(try await nadia.get(user).says("The factors were already deleted or restored"))
      #expect(try await nadia.get(purge.replacing("/purge", with: "/undo")).location == user)
      #expect(try await nadia.get(user).says("There’s nothing left to restore"))
      let stranger = purge.replacing(World.chiara, with: "nobody")
      #expect(try await nadia.get(stranger).status == .notFound)
      let twice = try await nadia.submit(user, ["reason": "stolen"], to: purge)
      #expect(twice.location == user)
      #expect(try await nadia.get(user).says("There’s nothing left to delete"))
    }
  }

  @Test func `permanent deletion isn't offered to roles that can't act on the user`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let chiara = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
      _ = try await world.removal(of: chiara, in: pool)
      let user = try await world.eu + "/users/\(World.chiara)"
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(user)
      #expect(read.says("Recently removed") && !read.says("permanently…</a>"))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get(user).says("permanently…</a>"))
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit(user + "/protection", ["reason": "compromised"])
      #expect(!(try await nadia.get(user).says("permanently…</a>")))
    }
  }
}
