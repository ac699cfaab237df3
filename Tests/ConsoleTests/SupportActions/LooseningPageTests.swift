import HTTP
import Identity
import Testing

@testable import Console

/// Actions that loosen support's safeguards require re-authentication.
@Suite struct LooseningPageTests {
  /// Expects that a page asks for a code, rejects a missing or an incorrect one, and issues a new
  /// session cookie for a valid one.
  private func check(
    _ world: World, _ browser: Browser, _ app: String, page: String, _ form: Form,
    to target: String? = nil, field: String = "code"
  ) async throws -> Answer {
    let asked = try await browser.get(page)
    #expect(asked.says("id=\"\(field)\"") && asked.says("Code from your authenticator app"))
    for code in ["", "000000"] {
      var given = form
      given.add("code", code)
      let wrong = try await browser.submit(page, given, to: target)
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.values(of: "href").filter { $0.hasPrefix("#") }.contains("#\(field)"))
      #expect(wrong.says("id=\"\(field)-error\"") && !wrong.says("000000"))
      Markup.check(wrong)
    }
    let before = browser.sessionCookie
    var given = form
    given.add("code", app)
    let done = try await browser.submit(page, given, to: target)
    #expect(done.status == .seeOther)
    try await browser.expectNewSessionCookie(since: before)
    #expect(!(try await browser.get(page).says("Code from your authenticator app")))
    return done
  }

  private let rules: Form = [
    "code-cap": "5", "undo-hours": "0", "code-attempt-days": "30", "actions-per-hour": "10",
    "sign-in-goal": "99.9", "approval-over-users": "", "identity-proof": "",
  ]

  @Test func `loosening support rules requires a code`() async throws {
    try await World.withSampleData { world in
      let (tomas, app) = try await Browser.withApp(world, as: World.tomas)
      let address = try await world.eu + "/settings/support"
      #expect(!(try await tomas.get(address).says("Code from your authenticator app")))
      world.clock.advance(seconds: 900)
      let wrong = try await tomas.submit(
        address,
        [
          "code-cap": "x", "undo-hours": "0", "code-attempt-days": "0",
          "actions-per-hour": "10", "sign-in-goal": "99.9",
        ])
      // Links to the sections of the page follow.
      let links = wrong.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
        .prefix { $0 != "#callers" }
      #expect(links == ["#code-cap", "#code-attempt-days", "#code"])
      let code = try world.code(of: app)
      let done = try await check(world, tomas, code, page: address, rules)
      #expect(done.location == address)
      #expect(try await world.identity.support.settings(try await world.euPool).undoHours == 0)
    }
  }

  @Test func `extending the re-authentication interval requires a code`() async throws {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      world.clock.advance(seconds: 900)
      let both = try await ada.submit(
        "/instance-settings", ["minutes": "soon"], to: "/instance-settings/step-up")
      #expect(
        both.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
          == ["#minutes", "#code"])
      _ = try await check(
        world, ada, try world.code(of: app), page: "/instance-settings", ["minutes": "240"],
        to: "/instance-settings/step-up")
      #expect(try await ada.get("/instance-settings").says("data-stored=\"240\""))
    }
  }

  @Test func `unblocking an agent requires a code`() async throws {
    try await World.withSampleData { world in
      let id = try await world.id(of: World.nadia)
      try await world.block(World.nadia, in: try await world.euPool)
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      world.clock.advance(seconds: 900)
      let unblock = try await world.eu + "/support/blocked-agents/\(id)"
      let page = try await ada.get(unblock)
      try Snapshot.check(page.text, named: "unblock-agent.html")
      Markup.check(page)
      for code in ["", "000000"] {
        let wrong = try await ada.submit(unblock, ["code": code])
        #expect(wrong.status == .unprocessableContent)
        #expect(wrong.values(of: "href").contains("#code") && wrong.says("id=\"code-error\""))
        Markup.check(wrong)
      }
      let before = ada.sessionCookie
      let done = try await ada.submit(unblock, ["code": try world.code(of: app)])
      #expect(done.location == "/projects")
      try await ada.expectNewSessionCookie(since: before)
      #expect(try await ada.get("/projects").says("Agent unblocked."))
      #expect(try await ada.get(unblock).status == .notFound)
    }
  }

  @Test func `administrators can't unblock themselves`() async throws {
    try await World.withSampleData { world in
      let id = try await world.id(of: World.ada)
      try await world.block(World.ada, in: try await world.euPool)
      let ada = try await Browser.signedIn(world)
      let unblock = try await world.eu + "/support/blocked-agents/\(id)"
      let page = try await ada.get(unblock)
      #expect(page.says("You can’t unblock yourself.") && !page.says(">Unblock agent</button>"))
      Markup.check(page)
      let answer = try await ada.submit("/account", [:], to: unblock)
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("You can’t unblock yourself."))
    }
  }

  @Test func `rejecting a request requires a code`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let chiara = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
      let (_, approval) = try await world.waitingRemoval(of: [chiara], in: pool)
      let request = try await world.eu + "/approvals/\(approval)"
      let (nadia, app) = try await Browser.withApp(world, as: World.nadia)
      world.clock.advance(seconds: 900)
      let withoutReason = try await nadia.submit(request, [:], to: request + "/rejection")
      #expect(withoutReason.values(of: "href").contains("#answer"))
      #expect(withoutReason.values(of: "href").contains("#refusal-code"))
      #expect(!withoutReason.values(of: "href").contains("#code"))
      Markup.check(withoutReason)
      _ = try await check(
        world, nadia, try world.code(of: app), page: request,
        ["answer": "Not now."], to: request + "/rejection", field: "refusal-code")
      #expect(try await nadia.get(request).says("Not now."))
    }
  }

  @Test func `an administrator without an authenticator is sent to set one up`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let id = try await world.blockedAgent(in: pool)
      let chiara = try #require(try await world.identity.accounts.find(pool, ID(World.chiara)))
      let (_, approval) = try await world.waitingRemoval(of: [chiara], in: pool)
      let ada = try await Browser.signedIn(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      world.clock.advance(seconds: 900)
      let eu = try await world.eu
      for (browser, page, target, form) in [
        (ada, eu + "/settings/support", nil, rules),
        (ada, "/instance-settings", "/instance-settings/step-up", ["minutes": "5"]),
        (ada, eu + "/support/blocked-agents/\(id)", nil, [:]),
        (
          nadia, eu + "/approvals/\(approval)", eu + "/approvals/\(approval)/rejection",
          ["answer": "No."]
        ),
      ] as [(Browser, String, String?, Form)] {
        let asked = try await browser.get(page)
        #expect(asked.says("You don’t have a second factor."), "\(page)")
        #expect(
          asked.values(of: "href").contains(ReturnAddress.of("/account/totp", backTo: page)),
          "\(page)")
        #expect(!asked.says("Code from your authenticator app"), "\(page)")
        Markup.check(asked)
        let answer = try await browser.submit(page, form, to: target)
        #expect(answer.status == .unprocessableContent, "\(page)")
        #expect(answer.says("You don’t have a second factor."), "\(page)")
        Markup.check(answer)
      }
      #expect(try await world.identity.support.stepUpMinutes() == 15)
    }
  }
}
