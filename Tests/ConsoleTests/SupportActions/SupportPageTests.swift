import Crypto
import HTTP
import Identity
import OTP
import Testing
import Text

@testable import Console

/// The pages of support actions.
@Suite struct SupportPageTests {
  private func user(_ world: World) async throws -> String {
    try await world.eu + "/users/\(World.chiara)"
  }

  /// Another support agent of the same tenant.
  private func colleague(_ world: World) async throws -> Browser {
    _ = try await world.identity.administrators.create(
      email: "omar@example.com", displayName: "Omar", password: Secret(World.password),
      grant: Grant(role: .support, project: ID("acme-retail"), tenant: try await world.euShop),
      by: Author(actor: .commandLine))
    return try await Browser.signedIn(world, as: "omar@example.com")
  }

  @Test func `another agent can undo a removal`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      let removal = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/removal"
      #expect(
        try await nadia.get(removal).says("Another administrator can undo the removal for 3 days"))
      _ = try await nadia.submit(removal, ["reason": "lost"])
      let after = try await nadia.get(user)
      #expect(after.says("Another administrator can undo it until Nov 23, 2026, 08:00\u{00A0}UTC."))
      #expect(after.says("You removed this. Only another administrator can restore it."))
      #expect(
        after.says(">See who can restore <bdi>Pixel 9</bdi></span></a>")
          && !after.says(">Undo<"))
      let undo = try #require(after.values(of: "href").first { $0.hasSuffix("/undo") })
      let own = try await nadia.get(undo)
      #expect(own.says("You removed this yourself.") && !own.says("<select"))
      Markup.check(own)
      // The instance's owner can restore it, but an agent of one tenant doesn't see their name.
      #expect(own.says("1 administrator can restore it.") && !own.says("Ada M."))

      let omar = try await colleague(world)
      let asking = try await nadia.get(undo)
      #expect(asking.says("Administrators who can restore it: Omar and 1 other."))
      #expect(asking.says(">\(World.publicURL)\(undo)</code>"))
      try Snapshot.check(asking.text, named: "undo-own.html")
      let page = try await omar.get(user)
      #expect(page.says("Recently removed") && page.says("Restore <bdi>Pixel 9</bdi>…"))
      try Snapshot.check(page.text, named: "user-removed-factor.html")
      let asked = try await omar.get(undo)
      try Snapshot.check(asked.text, named: "undo.html")
      let wrong = try await omar.submit(undo, ["reason": ""])
      #expect(wrong.status == .unprocessableContent && wrong.values(of: "href").contains("#reason"))
      let done = try await omar.submit(undo, ["reason": "mistake", "ticket": "HD-1"])
      #expect(done.location == user)
      #expect(try await omar.get(user).says("Restored the factor “Pixel 9”."))
      #expect(try await omar.get(undo).location == user)
      #expect(try await omar.get(user).says("The factors were already restored"))
      let twice = try await omar.submit(user, ["reason": "mistake"], to: undo)
      #expect(twice.location == user)
      #expect(try await omar.get(user).says("There’s nothing left to restore"))
    }
  }

  @Test func `no link is offered if no other administrator can restore the factor`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await user(world)
      _ = try await ada.submit(user + "/factors/removal", ["reason": "lost"])
      let undo = try #require(
        try await ada.get(user).values(of: "href").first { $0.hasSuffix("/undo") })
      try await world.identity.administrators.remove(
        ID(try await world.id(of: World.nadia)), by: .program(Author(actor: .commandLine)))
      let alone = try await ada.get(undo)
      #expect(alone.says("No other administrator can restore it."))
      #expect(!alone.says("Send them this link"))
      Markup.check(alone)
      // A lock on changes also keeps other administrators from restoring.
      try await world.reportChange()
      #expect(!(try await ada.get(undo).says("Ask another administrator<")))
    }
  }

  @Test func `the removal of a stolen device can't be undone from the flash message`() async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      _ = try await nadia.submit(user + "/factors/removal", ["reason": "stolen"])
      let after = try await nadia.get(user)
      #expect(after.says("Removed 1 factor.") && !after.says("can undo it until"))
    }
  }

  @Test func `a factor is suspended until a date, and the suspension can end early`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      let suspension = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/suspension"
      try Snapshot.check(try await nadia.get(suspension).text, named: "suspension.html")
      #expect(try await nadia.get(user).says("Suspend <bdi>Pixel 9</bdi>…"))
      for (field, value) in [
        ("day", "2026-12-31"), ("day", "2026-12-21"), ("day", "2026-11-19"), ("day", "soon"),
        ("until", "never"),
      ] {
        var form: Form = ["reason": "lost"]
        form.add(field, value)
        let wrong = try await nadia.submit(suspension, form)
        #expect(wrong.status == .unprocessableContent)
        let links = wrong.values(of: "href").filter { ["#until", "#day"].contains($0) }
        #expect(links == ["#\(field)"], "\(value)")
        let other = field == "day" ? "until" : "day"
        #expect(wrong.says("id=\"\(field)-error\"") && !wrong.says("id=\"\(other)-error\""))
        #expect(wrong.says(" aria-invalid=\"true\" aria-describedby=\"\(field)-error"), "\(value)")
        Markup.check(wrong)
      }
      let last = try await nadia.submit(suspension, ["reason": "lost", "day": "2026-12-20"])
      #expect(last.location == user, "the last day that the field allows")
      let longest = try await nadia.get(user)
      #expect(longest.says("Suspended factor “Pixel 9” through Dec 20, 2026,"))
      let done = try await nadia.submit(suspension, ["reason": "lost", "until": "tomorrow"])
      #expect(done.location == user)
      let after = try await nadia.get(user)
      #expect(after.says("Suspended factor “Pixel 9” through Nov 21, 2026 (UTC)."))
      #expect(after.says("suspended</span>"))
      // The likely action is a button, and not also in the factor's row.
      #expect(
        after.text.split(separator: "End suspension of <bdi>Pixel 9</bdi>…</span></a>").count == 2)
      #expect(!after.says("Suspend <bdi>Pixel 9</bdi>…"))
      let list = try await nadia.get(try await world.eu + "/users")
      #expect(list.says(">suspended</span>"))
      let end = suspension + "/end"
      Markup.check(try await nadia.get(end))
      let ended = try await nadia.submit(end, ["reason": "found"])
      #expect(ended.location == user)
      #expect(try await nadia.get(user).says("are accepted again."))
      #expect(try await nadia.get(end).says("No changes to make."))
      let late = try await nadia.submit(
        suspension, ["reason": "found"], to: end)
      #expect(late.location == user)
    }
  }

  @Test func `a suspension says that no codes are asked for while TOTP is off`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      let suspension = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/suspension"
      let pool = try await world.euPool
      for (state, isAsked) in [(MFAState.enabled, true), (.disabled, false)] {
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) {
          $0.configuration.totp = TOTPConfiguration(state: state, adjacentIntervals: nil)
        }
        let page = try await nadia.get(suspension)
        Markup.check(page)
        #expect(page.says("A second factor is still required at sign-in.") == isAsked)
        #expect(page.says("This is the only factor that sign-in asks for.") == isAsked)
        #expect(page.says("TOTP is off in this user pool") == !isAsked)
      }
    }
  }

  @Test func `C2: re-authentication issues a new session cookie`() async throws {
    try await World.withSampleData { world in
      let app = try await world.authenticator(of: World.nadia).app
      let nadia = Browser(world)
      _ = try await nadia.givePassword(World.nadia)
      _ = try await nadia.submit("/sign-in/code", ["code": try world.code(of: app)])
      let end = try await user(world) + "/sessions/end"
      #expect(!(try await nadia.get(end).says("Code from your authenticator app")))
      world.clock.advance(seconds: 900)
      let before = nadia.sessionCookie
      let asked = try await nadia.get(end)
      #expect(asked.says("Code from your authenticator app"))
      try Snapshot.check(asked.text, named: "sessions-end.html")
      for code in ["", "000000"] {
        let wrong = try await nadia.submit(end, ["reason": "lost", "code": code])
        #expect(wrong.status == .unprocessableContent)
        #expect(wrong.values(of: "href").contains("#code") && !wrong.says("value=\"000000\""))
      }
      let done = try await nadia.submit(end, ["reason": "lost", "code": try world.code(of: app)])
      #expect(done.status == .seeOther)
      try await nadia.expectNewSessionCookie(since: before)
      #expect(try await nadia.get(try await user(world)).says("1 session ended."))
      #expect(!(try await nadia.get(end).says("Code from your authenticator app")))
    }
  }

  @Test func `an agent without an authenticator is sent to set one up`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      world.clock.advance(seconds: 900)
      let end = try await user(world) + "/sessions/end"
      let page = try await nadia.get(end)
      #expect(page.says("You don’t have a second factor.") && !page.says("<select"))
      #expect(
        page.values(of: "href").contains(ReturnAddress.of("/account/totp", backTo: end)))
    }
  }

  @Test func `owners see who hit the hourly action limit and can unblock them`() async throws {
    try await World.withSampleData { world in
      var settings = SupportRules()
      settings.actionsPerHour = 1
      try await world.identity.support.change(
        try await world.euPool, to: settings, by: .program(Author(actor: .commandLine)))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let end = try await user(world) + "/sessions/end"
      _ = try await nadia.submit(end, ["reason": "lost"])
      let limit = try await nadia.get(end)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      #expect(limit.says("You can continue an hour after it."))
      #expect(limit.says("If you ask to be unblocked, or try another action before then"))
      #expect(limit.says("Ask to be unblocked"))
      Markup.check(limit)
      let asked = try await nadia.submit(end, [:])
      #expect(asked.says("Unblocking you on the Projects page requires the owner role."))
      #expect(asked.says("Waiting doesn’t end the block.") && !asked.says("Ask to be unblocked"))
      let ada = try await Browser.signedIn(world)
      let home = try await ada.get("/projects")
      #expect(home.says("Nadia K.") && home.says("Hit the hourly action limit"))
      try Snapshot.check(home.text, named: "projects-blocked-agent.html")
      let unblock = try #require(
        home.values(of: "href").first { $0.contains("/support/blocked-agents/") })
      let question = try await ada.get(unblock)
      #expect(question.says("Unblock <bdi>Nadia K.</bdi>?"))
      #expect(question.says("View the agent’s actions"))
      #expect(!question.says("Code from your authenticator app"))
      #expect(try await ada.submit(unblock, [:]).location == "/projects")
      let after = try await ada.get("/projects")
      #expect(after.says("Agent unblocked."))
      #expect(!after.says("Hit the hourly action limit"))
      #expect(try await nadia.get(end).says("<select"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(!(try await iris.get("/projects").says("Hit the hourly action limit")))
    }
  }

  @Test func `a protected account says who can act on it`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      Markup.check(try await ada.get(user + "/protection"))
      _ = try await ada.submit(user + "/protection", ["reason": "other", "note": "The board"])
      #expect(try await ada.get(user).says("The account is protected"))
      let page = try await nadia.get(user)
      #expect(
        page.says("Actions on it require the owner role.") && page.says(">protected</span>"))
      #expect(!page.says("Remove <bdi>Pixel 9</bdi>…") && !page.says("End all sessions…"))
      let removal = "\(user)/factors/removal"
      #expect(!(try await nadia.get(removal).says("<select")))
      #expect(try await nadia.submit(removal, ["reason": "lost"]).status == .unprocessableContent)
      let list = try await nadia.get(try await world.eu + "/users")
      #expect(list.says(">protected</span>"))
      _ = try await ada.submit(user + "/protection", ["reason": "mistake"])
      #expect(try await nadia.get(user).says("Remove <bdi>Pixel 9</bdi>…"))
    }
  }

  @Test func `a user's lock on changes is shown, and an owner can lift it`() async throws {
    try await World.withSampleData { world in
      try await world.reportChange()
      let ada = try await Browser.signedIn(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      let page = try await nadia.get(user)
      #expect(page.says("until the report is reviewed") && page.says("changes locked by user"))
      #expect(!page.says("Remove <bdi>Pixel 9</bdi>…"))
      let refused = try await nadia.get(user + "/allowed-changes")
      #expect(refused.status == .forbidden)
      #expect(refused.says("This action requires the owner role."))
      let owners = try await ada.get(user)
      #expect(owners.values(of: "href").contains(user + "/allowed-changes"))
      _ = try await ada.submit(
        user + "/allowed-changes", ["reason": "resolved", "note": "Spoke to her in person"])
      #expect(try await nadia.get(user).says("Remove <bdi>Pixel 9</bdi>…"))
    }
  }

  @Test func `administrators can't act on an account with their own address`() async throws {
    try await World.withSampleData { world in
      let user = try await user(world)
      _ = try await world.identity.administrators.create(
        email: "chiara.bianchi@example.com", displayName: "Chiara",
        password: Secret(World.password),
        grant: Grant(role: .owner), by: Author(actor: .commandLine))
      let own = try await Browser.signedIn(world, as: "chiara.bianchi@example.com")
      let page = try await own.get(user)
      #expect(page.says("This account has your email address."))
      #expect(!page.says("Remove <bdi>Pixel 9</bdi>…") && !page.says("Delete user…"))
      for path in [
        "/deletion", "/disabling", "/enabling", "/verification", "/factors/removal",
        "/sessions/end",
      ] {
        let answer = try await own.submit(user + path, ["reason": "lost"])
        #expect(answer.status == .unprocessableContent, "\(path)")
      }
      #expect(
        try await own.get(user + "/disabling").says("Ask another administrator to act on it."))
    }
  }

  @Test func `support can unlock codes`() async throws {
    try await World.withSampleData { world in
      for _ in 0..<7 { try await world.write([CodeFinding(.wrong)], of: World.chiara) }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      #expect(try await nadia.get(user).says("Unlock codes…"))
      try Snapshot.check(try await nadia.get(user + "/unlock").text, named: "unlock.html")
      _ = try await nadia.submit(user + "/unlock", ["reason": "locked"])
      let after = try await nadia.get(user)
      #expect(after.says("Codes unlocked."))
      #expect(!after.says("Unlock codes…"))
      #expect(try await nadia.get(user + "/unlock").says("No changes to make."))
    }
  }

  @Test func `support rules can be changed, each within its range`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/settings/support"
      try Snapshot.check(try await tomas.get(address).text, named: "support-rules.html")
      let right: Form = [
        "code-cap": "5", "undo-hours": "24", "code-attempt-days": "30", "actions-per-hour": "10",
        "sign-in-goal": "99.95",
        "approval-over-users": "", "identity-proof": "Called back\r\n\r\nDate of birth",
        "temporary-codes": "on", "token-changes-per-hour": "500",
      ]
      let wrong: [(String, String)] = [
        ("code-cap", "4"), ("code-cap", "x"), ("undo-hours", "721"), ("code-attempt-days", "0"),
        ("sign-in-goal", "89.99"), ("sign-in-goal", "100.01"), ("sign-in-goal", "99.999"),
        ("sign-in-goal", "most"),
        ("actions-per-hour", ""), ("approval-over-users", "-1"), ("approval-over-users", "many"),
        ("token-changes-per-hour", "0"), ("token-changes-per-hour", "many"),
        ("identity-proof", String(repeating: "x", count: 121)),
        ("identity-proof", String(repeating: "x\n", count: 11)),
      ]
      for (field, value) in wrong {
        var form = Form()
        for entry in right.entries where entry.name != UntrustedText(field) { form.add(entry) }
        form.add(field, value)
        let answer = try await tomas.submit(address, form)
        #expect(answer.status == .unprocessableContent, "\(field) \(value)")
        #expect(answer.values(of: "href").contains("#\(field)"), "\(field) \(value)")
        Markup.check(answer)
      }
      #expect(try await tomas.submit(address, right).location == address)
      #expect(try await tomas.get(address).says("Support rules saved."))
      let settings = try await world.identity.support.settings(try await world.euPool)
      #expect(settings.identityProof == ["Called back", "Date of birth"])
      #expect(settings.codeCap == 5 && settings.undoHours == 24 && settings.temporaryCodes)
      #expect(settings.signInGoal == 9_995)
      #expect(settings.tokenChangesPerHour == 500 && !settings.tokensRemoveFactors)
      _ = try await tomas.submit(address, right)
      #expect(try await tomas.get(address).says("No changes made."))
      // Forms include the identity checks from now on.
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let end = try await user(world) + "/sessions/end"
      #expect(try await nadia.get(end).says("Date of birth"))
      let refused = try await nadia.submit(end, ["reason": "lost", "proof": "Called back"])
      #expect(refused.values(of: "href").contains("#proof"))
      #expect(try await nadia.get(address).says("You have read-only access."))
      #expect(try await nadia.submit(end, right, to: address).status == .forbidden)
    }
  }

  @Test func `owners set the re-authentication interval`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit(
        "/instance-settings", ["minutes": "30"], to: "/instance-settings/step-up")
      let settings = try await ada.get("/instance-settings")
      #expect(settings.says("data-name=\"minutes\" data-stored=\"30\""))
      for wrong in ["0", "241", "soon", ""] {
        let refused = try await ada.submit(
          "/instance-settings", ["minutes": wrong], to: "/instance-settings/step-up")
        #expect(refused.status == .unprocessableContent && refused.says("from 1 to 240."))
        #expect(refused.values(of: "href").contains("#minutes"))
        #expect(refused.says("value=\"\(wrong)\" aria-invalid=\"true\""))
        #expect(refused.says("data-stored=\"30\""))
      }
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get("/instance-settings")
      #expect(read.says(">30</span>") && !read.says("id=\"minutes\""))
    }
  }
}
