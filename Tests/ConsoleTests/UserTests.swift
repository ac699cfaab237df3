import HTTP
import Identity
import Testing

@testable import Console

/// Finding users and removing their factors.
@Suite struct UserTests {
  @Test func `a search within a pool lists its results and never redirects`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let users = try await world.eu + "/users"
      #expect(try await nadia.get(users + "?q=chiara").says("chiara.bianchi@example.com"))
      #expect(try await nadia.get(users + "?q=kT9w2").says("chiara.bianchi@example.com"))
      #expect(try await nadia.get(users + "?q=nobody").says("No users found"))
      #expect(try await nadia.get(users + "?q=").says("4 users"))
    }
  }

  @Test func `users can be filtered by second factor`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let users = try await world.eu + "/users"
      let none = try await nadia.get(users + "?factor=none")
      #expect(none.says("jo@example.com") && !none.says("chiara"))
      let totp = try await nadia.get(users + "?factor=totp")
      #expect(totp.says("chiara") && !totp.says("jo@example.com"))
    }
  }

  @Test func `long lists are paged by key, with each user once`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.identity.pools.existing(project: ID("globex"))
      for number in 0..<120 {
        var new = NewAccount()
        new.email = "user\(number)@example.com"
        _ = try await world.identity.accounts.create(
          pool, new, by: .program(Author(actor: .commandLine)))
      }
      let browser = try await Browser.signedIn(world)
      var next: String? = "/projects/globex/users"
      var seen: [String] = []
      while let address = next, seen.count < 200 {
        let page = try await browser.get(address)
        seen += page.values(of: "href").filter { $0.hasPrefix("/projects/globex/users/") }
        next = page.values(of: "href").first { $0.contains("after=") && !$0.contains("select=") }
      }
      #expect(seen.count == 120 && Set(seen).count == 120)
    }
  }

  @Test func `a factor is removed with a reason, and the page shows the result`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/removal"
      #expect(try await nadia.get(removal).says("1 session ends immediately."))
      let answer = try await nadia.submit(removal, ["reason": "stolen", "note": "HD-1"])
      #expect(answer.location == user)
      let after = try await nadia.get(user)
      #expect(after.says("Removed the factor “Pixel 9”. 1 session ended."))
      #expect(after.says("Stolen device: HD-1"))
      #expect(try await nadia.get(removal).status == .notFound)
      // A second submission says that it was already removed, instead of “not found”.
      let twice = try await nadia.submit(user, ["reason": "lost"], to: removal)
      #expect(twice.location == user)
      #expect(try await nadia.get(user).says("Already removed. No changes made."))
      let missing = removal.replacing(World.chiara, with: "nobody")
      #expect(try await nadia.submit(user, ["reason": "lost"], to: missing).status == .notFound)
      let account = try await world.identity.accounts.find(
        try await world.euPool, ID(World.chiara))
      #expect(account?.factors.isEmpty == true)
    }
  }

  @Test(arguments: [
    ("", "", "reason"), ("bored", "", "reason"), ("other", "", "note"), ("other", "  \n ", "note"),
    ("lost", String(repeating: "n", count: 1001), "note"),
  ])
  func `a removal without a valid reason is rejected`(
    reason: String, note: String, field: String
  ) async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let factor = try await world.factor(of: World.chiara).text
      let removal = try await world.eu + "/users/\(World.chiara)/factors/\(factor)/removal"
      let answer = try await nadia.submit(removal, ["reason": reason, "note": note])
      #expect(answer.status == .unprocessableContent)
      #expect(answer.values(of: "href").contains("#\(field)"))
      #expect(answer.says("id=\"\(field)\""))
      if note.count > 1000 { #expect(answer.says(note)) }
      #expect(try await world.factor(of: World.chiara).text == factor)
    }
  }

  @Test func `a UID with special characters links to its page`() async throws {
    try await World.withSampleData { world in
      var new = NewAccount()
      new.localID = "a/b?c#d%e&f g+é"
      new.email = "odd@example.com"
      let account = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine))
      ).value
      let browser = try await Browser.signedIn(world)
      let list = try await browser.get(try await world.eu + "/users?q=odd")
      let link = try #require(
        list.values(of: "href").first { $0.contains("/users/a%2Fb") })
      #expect(try await browser.get(link).says("odd@example.com"))
      #expect(account.id.text == "a/b?c#d%e&f g+é")
    }
  }
}
