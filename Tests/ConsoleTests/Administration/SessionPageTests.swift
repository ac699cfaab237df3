import HTTP
import Identity
import Testing

@testable import Console

/// The limits of sessions, the warning before they end, and the sessions of other administrators.
@Suite struct SessionPageTests {
  /// Signs in an owner with a second factor, which changing the limits requires.
  private func owner(_ world: World) async throws -> Browser {
    let (_, codes) = try await world.authenticator(of: World.ada)
    let ada = Browser(world)
    _ = try await ada.givePassword()
    _ = try await ada.submit("/sign-in/code", ["recovery": codes[0]])
    return ada
  }

  @Test func `C3: owners set the limits, and every page says when the session ends`() async throws {
    try await World.withSampleData { world in
      let ada = try await owner(world)
      let page = try await ada.get("/administrators/session-limits")
      Markup.check(page)
      #expect(page.says("name=\"idle\"") && page.says("value=\"60\""))
      let changed = try await ada.submit(
        "/administrators/session-limits", ["idle": "10", "hours": "2"])
      #expect(changed.location == "/instance-settings")
      let list = try await ada.get("/instance-settings")
      Markup.check(list)
      #expect(list.says("Settings changed."))
      #expect(list.says("A session ends after 10\u{A0}min of inactivity"))
      #expect(list.says("data-idle=\"600\" data-lifetime=\"7200\""))
      let none = try await ada.submit(
        "/administrators/session-limits", ["idle": "10", "hours": "2"])
      #expect(none.location == "/instance-settings")
      #expect(try await ada.get("/instance-settings").says("No changes made."))
    }
  }

  @Test func `C1: a required second factor is set up before any other page`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await owner(world)
      let changed = try await ada.submit(
        "/administrators/session-limits",
        ["idle": "60", "hours": "12", "second-factor": "on"])
      #expect(changed.location == "/instance-settings")
      let page = try await ada.get("/administrators/session-limits")
      Markup.check(page)
      #expect(page.says("value=\"on\" checked"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(
        try await iris.get("/projects").location
          == ReturnAddress.of("/account/totp", backTo: "/projects"))
    }
  }

  @Test func `limits out of range are explained at their fields and kept`() async throws {
    try await World.withSampleData { world in
      let ada = try await owner(world)
      for (idle, hours, field) in [
        ("4", "12", "idle"), ("61", "12", "idle"), ("x\u{202E}", "12", "idle"),
        ("60", "25", "hours"), ("60", "", "hours"),
      ] {
        let answer = try await ada.submit(
          "/administrators/session-limits", ["idle": idle, "hours": hours])
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("id=\"\(field)-error\""))
        Markup.check(answer)
      }
      let limits = try await world.identity.consoleSessions.limits()
      #expect(limits == .standard)
    }
  }

  @Test func `the session is extended with a form, and nothing else is needed`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get("/account")
      Markup.check(page)
      world.clock.advance(seconds: 3_500)
      let extended = try await iris.post(
        "/account/session-extension", ["csrf": try page.csrf])
      #expect(extended.status == .ok)
      #expect(extended.text == "3600 \(12 * 3_600 - 3_500)")
      world.clock.advance(seconds: 3_500)
      #expect(try await iris.get("/account").status == .ok)
      let forged = try await iris.post("/account/session-extension", ["csrf": "x"])
      #expect(forged.status == .forbidden)
      world.clock.advance(seconds: 3_601)
      let late = try await iris.post("/account/session-extension", ["csrf": try page.csrf])
      #expect(late.status == .seeOther)
    }
  }

  @Test func `visitors get neither the statement nor its script`() async throws {
    try await World.withSampleData { world in
      let page = try await Browser(world).get("/sign-in")
      #expect(!page.says("data-idle") && !page.says("your session ends"))
    }
  }

  @Test func `owners see the sessions of others by browser, and end one or all`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let iris = [
        try await Browser.signedIn(world, as: World.iris),
        try await Browser.signedIn(world, as: World.iris),
        try await Browser.signedIn(world, as: World.iris),
      ]
      let address = "/administrators/\(try await world.id(of: World.iris))"
      #expect(try await ada.get(address).values(of: "href").contains(address + "/sessions"))
      let page = try await ada.get(address + "/sessions")
      Markup.check(page)
      let ids = page.sessionsWithOwnButtons()
      #expect(ids.count == 3)
      let one = try await ada.post(
        address + "/sessions", ["csrf": try page.csrf, "session": ids[0]])
      #expect(one.location == address + "/sessions")
      #expect(try await ada.get(address + "/sessions").says("1 session ended."))
      _ = try await ada.post(address + "/sessions", ["csrf": try page.csrf, "session": "\u{202E}"])
      #expect(try await ada.get(address + "/sessions").says("The session had already ended."))
      _ = try await ada.post(address + "/sessions/removal", ["csrf": try page.csrf])
      #expect(try await ada.get(address + "/sessions").says("No open sessions"))
      for browser in iris { #expect(try await browser.get("/").location == "/sign-in") }
      let own = "/administrators/\(try await world.id(of: World.ada))/sessions"
      #expect(try await ada.get(own).location == "/account")
      #expect(try await ada.post(own, ["csrf": try page.csrf]).location == "/account")
    }
  }
}
