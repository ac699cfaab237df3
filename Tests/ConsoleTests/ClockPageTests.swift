import HTTP
import Identity
import Testing

@testable import Console

/// The warning about an untrusted clock, and the page where an owner confirms the time.
@Suite struct ClockPageTests {
  private static let banner = "The server’s clock may be wrong."

  /// Moves the clock so that the server doubts it.
  private func doubt(_ world: World, _ seconds: Int64 = 400 * 86_400) async throws {
    #expect(try await world.identity.clockGuard.check() == nil)
    world.clock.advance(seconds: seconds)
    #expect(try await world.identity.clockGuard.check() != nil)
  }

  @Test func `every page warns about a doubted clock and links owners to confirm it`()
    async throws
  {
    try await World.withSampleData { world in
      #expect(!(try await Browser.signedIn(world).get("/projects").says(Self.banner)))
      try await doubt(world)
      let eu = try await world.eu
      for who in [World.ada, World.nadia, World.tomas, World.iris] {
        let browser = try await Browser.signedIn(world, as: who)
        for address in [
          "/projects", eu, "/projects/acme-retail", "/account", "/guides", "/no-such-page",
        ] {
          let page = try await browser.get(address)
          #expect(page.says(Self.banner), "\(who) \(address)")
          #expect(
            page.says(
              "It shows Dec 25, 2027, 08:00\u{00A0}UTC, long after Nov 20, 2026, 08:00\u{00A0}UTC"))
          #expect(page.values(of: "href").contains("/clock") == (who == World.ada))
          #expect(page.says("Confirming the time requires the owner role.") == (who != World.ada))
          Markup.check(page)
        }
        let home = try await browser.get("/projects")
        let attention = try #require(home.text.firstRange(of: "id=\"attention\""))
        #expect(home.text[attention.upperBound...].contains(Self.banner), "\(who)")
      }
      let ada = try await Browser.signedIn(world)
      try Snapshot.check(try await ada.get("/projects").text, named: "projects-clock.html")
      #expect(!(try await Browser(world).get("/sign-in").says(Self.banner)))
    }
  }

  @Test func `an owner confirms the time with a code, and deletion resumes`() async throws {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      let trusted = try await ada.get("/clock")
      #expect(trusted.says("Server clock is correct.") && !trusted.says("<button class"))
      try Snapshot.check(trusted.text, named: "clock.html")
      _ = try await ada.submit("/clock", [:])
      #expect(try await ada.get("/clock").says("The clock is already trusted."))
      let chiara = try await world.user()
      _ = try await world.removal(of: chiara, in: try await world.euPool)
      try await doubt(world, 8 * 86_400)
      try await world.identity.purgeExpired()
      let kept = try await world.user()
      #expect(kept.id == chiara.id)
      let again = Browser(world)
      _ = try await again.givePassword()
      _ = try await again.submit("/sign-in/code", ["code": try world.code(of: app)])
      world.clock.advance(seconds: 900)
      let page = try await again.get("/clock")
      #expect(page.says("Is it Nov 28, 2026, 08:15\u{00A0}UTC now?") && page.says("8 days ahead"))
      try Snapshot.check(page.text, named: "clock-doubted.html")
      for code in ["", "000000"] {
        let wrong = try await again.submit("/clock", ["code": code])
        #expect(wrong.status == .unprocessableContent)
        #expect(wrong.values(of: "href").contains("#code"))
        Markup.check(wrong)
      }
      #expect(world.identity.clockGuard.doubt != nil)
      let done = try await again.submit("/clock", ["code": try world.code(of: app)])
      #expect(done.location == "/clock")
      let after = try await again.get("/clock")
      #expect(
        after.says("Time confirmed: Nov 28, 2026, 08:15\u{00A0}UTC.") && !after.says(Self.banner))
      #expect(world.identity.clockGuard.doubt == nil)
      let log = try await again.get("/audit")
      #expect(log.says("Clock confirmed"))
      try await world.identity.purgeExpired()
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(!(try await again.get(user).says("Recently removed")))
    }
  }

  @Test(arguments: [true, false])
  func `email resumes only where it is configured`(carriesMail: Bool) async throws {
    try await World.withSampleData(carriesMail: carriesMail) { world in
      try await doubt(world)
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get("/clock").says("Pending email is sent.") == carriesMail)
      _ = try await ada.submit("/clock", [:])
      let after = try await ada.get("/clock")
      #expect(after.says("Deletion and email resume.") == carriesMail)
      #expect(after.says("Deletion resumes.") != carriesMail)
    }
  }

  @Test func `without a second factor, the page says what to do first`() async throws {
    try await World.withSampleData { world in
      try await doubt(world, -2 * 3_600)
      let ada = try await Browser.signedIn(world)
      world.clock.advance(seconds: 900)
      let page = try await ada.get("/clock")
      #expect(page.says("before Nov 20, 2026, 08:00\u{00A0}UTC, the expected time"))
      #expect(page.says("105\u{A0}min behind") && !page.says("Confirm the time</button>"))
      Markup.check(page)
      let sent = try await ada.submit("/projects", [:], to: "/clock")
      #expect(sent.status == .unprocessableContent && world.identity.clockGuard.doubt != nil)
      Markup.check(sent)
    }
  }

  @Test(
    arguments: [
      (0, "0\u{A0}s ahead"), (59, "59\u{A0}s ahead"), (-90, "1\u{A0}min 30\u{A0}s behind"),
      (7_199, "119\u{A0}min 59\u{A0}s ahead"),
      (7_200, "2 hours ahead"), (2 * 86_400, "2 days ahead"), (-400 * 86_400, "400 days behind"),
    ] as [(Int64, String)])
  func `a difference is shown in a suitable unit`(seconds: Int64, words: String) {
    #expect(ClockView.difference(seconds).english == words)
  }
}
