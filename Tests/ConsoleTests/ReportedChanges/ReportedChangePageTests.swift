import HTTP
import Identity
import Testing

@testable import Console

/// The page where a user reports a change that they didn't make.
@Suite struct ReportedChangePageTests {
  private static let page = "/__/auth/not-me"

  /// Removes Chiara's factor in the console, and returns the link in the email.
  private func removed(_ world: World) async throws -> String {
    let nadia = try await Browser.signedIn(world, as: World.nadia)
    let removal = try await world.filled("{eu}/users/\(World.chiara)/factors/{factor}/removal")
    let sent = try await nadia.submit(removal, ["reason": "lost"])
    #expect(sent.status == .seeOther)
    return try await world.link(to: Self.page)
  }

  private func code(_ link: String) -> String {
    String(link.split(separator: "=").last ?? "")
  }

  @Test func `opening a link changes nothing, and its button locks the user's factors`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await removed(world)
      let browser = Browser(world)
      for _ in 0..<2 {
        let page = try await browser.get(link)
        #expect(page.status == .ok && page.says("The second factor “Pixel 9” was removed."))
        #expect(page.says("This wasn’t me") && !page.says("chiara"))
      }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let before = try await nadia.get(user + "/enrollment-link")
      #expect(!before.says("they didn’t make"))
      let sent = try await browser.submit(link, ["code": code(link)], to: Self.page)
      #expect(sent.status == .seeOther)
      let done = try await browser.get(try #require(sent.location))
      #expect(done.status == .ok && done.says("Your account is locked"))
      let again = try await browser.submit(
        "/sign-in", ["code": code(link)], to: Self.page)
      #expect(again.status == .gone && again.says("This link was already used"))
      #expect(try await browser.get(link).status == .gone)
      // Support sees why it can't act.
      let after = try await nadia.get(user + "/enrollment-link")
      #expect(after.says("they didn’t make"))
    }
  }

  @Test func `the overview and the home page show a report to administrators of the pool`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await removed(world)
      _ = try await Browser(world).submit(link, ["code": code(link)], to: Self.page)
      let ada = try await Browser.signedIn(world)
      let overview = try await ada.get(try await world.eu)
      #expect(
        overview.says(
          "chiara.bianchi@example.com reported a change that they didn’t make. Their account is locked"
        ))
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(overview.values(of: "href").contains(user))
      let home = try await ada.get("/projects")
      #expect(home.says("1 user reported a change that they didn’t make."))
      // A policy admin can't find users, and doesn't see who it is.
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let tomasOverview = try await tomas.get(try await world.eu)
      #expect(tomasOverview.says("Users reported changes that they didn’t make."))
      #expect(!tomasOverview.says("chiara"))
    }
  }

  @Test
  func `expired and invalid links get an error page, and a cross-site form is rejected`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await removed(world)
      let browser = Browser(world)
      for query in ["", "?code=", "?code=x", "?done=1"] {
        let page = try await browser.get(Self.page + query)
        #expect(page.status == .notFound && page.says("This link is invalid"), "\(query)")
      }
      let csrf = try await browser.get(link).csrf
      let foreign = try await browser.send(
        .post, Self.page, form: ["csrf": csrf, "code": code(link)],
        fields: [.origin: "https://evil.example", .secFetchSite: "cross-site"])
      #expect(foreign.status == .forbidden)
      let stale = try await browser.post(Self.page, ["code": code(link)])
      #expect(stale.status == .forbidden)
      #expect(try await browser.get(link).status == .ok)
      world.clock.advance(seconds: 7 * 86_400)
      let late = try await browser.get(link)
      #expect(late.status == .gone && late.says("valid for seven days"))
    }
  }

  @Test func `a hostile factor name is escaped`() async throws {
    try await World.withSampleData { world in
      let name = "\u{202E}<script>alert(1)</script>" + String(repeating: "🦄", count: 60)
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(id: try await world.factor(of: World.chiara).text, displayName: name)
      ])
      try await world.identity.accounts.update(
        try await world.euPool, ID(World.chiara), change, by: Author(actor: .commandLine))
      // The email about the removal comes after one about the name.
      world.clock.advance(seconds: 60)
      let page = try await Browser(world).get(try await removed(world))
      #expect(page.status == .ok && !page.says("<script>a") && !page.says("\u{202E}"))
      #expect(page.says("<bdi>The second factor “&lt;script&gt;alert(1)"))
    }
  }

  @Test func `the pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let link = try await removed(world)
      let browser = Browser(world)
      let page = try await browser.get(link)
      Markup.check(page)
      let token = try page.csrf
      func settled(_ answer: Answer) -> String {
        answer.text.replacing(token, with: "CSRF").replacing(code(link), with: "CODE")
      }
      try Snapshot.check(settled(page), named: "not-me.html")
      let sent = try await browser.submit(link, ["code": code(link)], to: Self.page)
      try Snapshot.check(
        settled(try await browser.get(try #require(sent.location))), named: "not-me-done.html")
      let ada = try await Browser.signedIn(world)
      try Snapshot.check(try await ada.get(try await world.eu).text, named: "overview-not-me.html")
    }
  }
}
