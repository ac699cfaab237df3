import HTTP
import Identity
import Localization
import MailText
import OTP
import Testing

@testable import Console

/// The administrator's own account.
@Suite struct AccountPageTests {
  @Test func `an administrator sets up, replaces, and removes a factor with its codes`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let account = try await iris.get("/account")
      Markup.check(account)
      #expect(account.says("Set up a second factor") && !account.says("Replace authenticator…"))
      let page = try await iris.get("/account/totp")
      let app = try SecondStepPageTests.app(on: page)
      let ticket = page.value(of: "ticket") ?? ""
      let form: Form = ["csrf": try page.csrf, "ticket": ticket]
      let empty = try await iris.post("/account/totp", form)
      #expect(empty.status == .unprocessableContent)
      Markup.check(empty)
      // The form and the browser keep the secret, so that a scanned QR code stays valid.
      #expect(try SecondStepPageTests.app(on: empty).secret == app.secret)
      #expect(try await SecondStepPageTests.app(on: iris.get("/account/totp")).secret == app.secret)
      let elsewhere = try await Browser.signedIn(world, as: World.iris)
      let another = try await SecondStepPageTests.app(on: elsewhere.get("/account/totp"))
      #expect(another.secret != app.secret)
      var wrong = form
      wrong.add("code", "000000")
      let refused = try await iris.post("/account/totp", wrong)
      #expect(refused.says("Incorrect code.") && refused.says("then scan this one"))
      let name = "countersign-enrollment="
      let cookie = try #require(
        refused.response.fields.all(.setCookie).first { $0.contains(name) })
      #expect(cookie.contains("; Path=/account/totp;") && cookie.contains("; HttpOnly"))
      var right = form
      right.add("code", try world.code(of: app))
      #expect(try await iris.post("/account/totp", right).says("Your second factor is on."))
      // Reloading the page with the codes sends the form again.
      #expect(try await iris.post("/account/totp", right).location == "/account")
      let reloaded = try await iris.get("/account")
      #expect(reloaded.says("Your authenticator app is already set up."))
      #expect(reloaded.says("Recovery codes are shown only once"))

      let on = try await iris.get("/account")
      #expect(on.says("Replace authenticator…") && on.says("Remove second factor…"))
      #expect(on.says("10 of 10 left"))
      world.clock.advance(seconds: 30)
      let wrongCode = try await iris.submit("/account/recovery-codes", ["current-code": "1"])
      #expect(wrongCode.status == .unprocessableContent)
      Markup.check(wrongCode)
      for page in ["/account/recovery-codes", "/account/totp/removal"] {
        let empty = try await iris.submit(page, ["current-code": " "])
        #expect(empty.status == .unprocessableContent && !empty.says("Incorrect"), "\(page)")
      }
      let question = try await iris.get("/account/recovery-codes")
      let answers: Form = [
        "csrf": try question.csrf, "codes": question.value(of: "codes") ?? "",
        "current-code": try world.code(of: app),
      ]
      let codes = try await iris.post("/account/recovery-codes", answers)
      #expect(codes.says("Your previous codes no longer work."))
      // Reloading this page too sends its form again, which must not replace the codes on it.
      let id = try await world.identity.administrators.record(email: World.iris).administrator.id
      let factors = world.identity.administratorFactors
      let before = try await factors.recoveryCodeSet(of: id)
      #expect(try await iris.post("/account/recovery-codes", answers).location == "/account")
      #expect(try await iris.get("/account").says("Your recovery codes were already generated."))
      #expect(try await factors.recoveryCodeSet(of: id) == before)
      let replacing = try await iris.get("/account/totp")
      Markup.check(replacing)
      #expect(try SecondStepPageTests.app(on: replacing).secret != app.secret)
      #expect(replacing.says("Replace your authenticator"))
      world.clock.advance(seconds: 30)
      let removed = try await iris.submit(
        "/account/totp/removal", ["current-code": try world.code(of: app)])
      #expect(removed.location == "/account")
      #expect(try await iris.get("/account/totp/removal").location == "/account")
      #expect(try await iris.get("/account/recovery-codes").location == "/account/totp")
    }
  }

  @Test func `an owner can't remove their factor, and guessing codes is throttled`() async throws {
    try await World.withSampleData { world in
      let (_, codes) = try await world.authenticator(of: World.ada)
      let ada = Browser(world)
      _ = try await ada.givePassword()
      _ = try await ada.submit("/sign-in/code", ["recovery": codes[0]])
      #expect(!(try await ada.get("/account").says("Remove second factor…")))
      #expect(try await ada.get("/account/totp/removal").location == "/account")
      var last = try await ada.get("/account/recovery-codes")
      for _ in 0..<6 {
        last = try await ada.submit("/account/recovery-codes", ["current-code": "000000"])
      }
      #expect(last.status == .tooManyRequests)
      #expect(last.response.fields[.retryAfter] == "30")
    }
  }

  @Test func `changing the password requires the current one`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world, as: World.iris)
      let other = try await Browser.signedIn(world, as: World.iris)
      Markup.check(try await browser.get("/account/password"))
      for (old, new, field) in [
        ("", "", "old-password"), ("wrong", "another pass phrase", "old-password"),
        (World.password, "short", "new-password"),
      ] {
        let answer = try await browser.submit(
          "/account/password", ["old-password": old, "new-password": new])
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("id=\"\(field)-error\""))
        #expect(!answer.says("another pass phrase"))
        Markup.check(answer)
      }
      let done = try await browser.submit(
        "/account/password",
        ["old-password": World.password, "new-password": "another pass phrase"])
      #expect(done.location == "/account")
      #expect(try await browser.get("/account").says("1 other session ended."))
      #expect(try await other.get("/").location == "/sign-in")
    }
  }

  @Test func `without a password, there's none to change`() async throws {
    try await World.withSampleData { world in
      let ada = try await SignInProviderPageTests.setUp(world)
      #expect(try await ada.get("/account").values(of: "href").contains("/account/password"))
      let nora = Browser(world)
      _ = try await SignInProviderPageTests.signIn(nora)
      let account = try await nora.get("/account")
      Markup.check(account)
      #expect(!account.values(of: "href").contains("/account/password"))
      #expect(!account.says("your password alone"))
      #expect(try await nora.get("/account/password").location == "/account")
      let sent = try await nora.post(
        "/account/password",
        [
          "csrf": try account.csrf, "old-password": World.password,
          "new-password": "another pass phrase",
        ])
      #expect(sent.location == "/account")
    }
  }

  @Test func `sessions are listed with their browsers and can be ended singly or all at once`()
    async throws
  {
    try await World.withSampleData { world in
      let browsers = [
        try await Browser.signedIn(world), try await Browser.signedIn(world),
        try await Browser.signedIn(world),
      ]
      let page = try await browsers[0].get("/account")
      #expect(page.says("current session") && page.says("192.0.2.9"))
      #expect(page.values(of: "action").contains("/account/sessions/others"))
      let ids = page.sessionsWithOwnButtons()
      #expect(ids.count == 2)
      let sent = try await browsers[0].post(
        "/account/sessions", ["csrf": try page.csrf, "session": ids[0]])
      #expect(sent.location == "/account")
      #expect(try await browsers[0].get("/account").says("1 session ended."))
      _ = try await browsers[0].post(
        "/account/sessions/others", ["csrf": try page.csrf])
      var open = 0
      for browser in browsers where try await browser.get("/projects").status == .ok { open += 1 }
      #expect(open == 1)
      let invalid = try await browsers[0].post(
        "/account/sessions", ["csrf": try page.csrf, "session": "\u{202E}x"])
      #expect(invalid.location == "/account")
    }
  }

  @Test func `the time zone and the theme are set per administrator`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let before = try await browser.get("/administrators")
      #expect(before.says("Nov 20, 2026, 08:00\u{00A0}UTC</time>") && !before.says("data-theme"))
      Markup.check(try await browser.get("/account/preferences"))
      let form: Form = ["zone": "Asia/Kolkata", "theme": "dark"]
      #expect(try await browser.submit("/account/preferences", form).location == "/account")
      let after = try await browser.get("/administrators")
      #expect(after.says("<html lang=\"en\" dir=\"ltr\" data-theme=\"dark\">"))
      #expect(
        after.says(
          "title=\"Fri, Nov 20, 2026, 13:30:00\u{00A0}UTC+5:30\" data-ago>Nov 20, 2026, 13:30\u{00A0}UTC+5:30</time>"
        )
      )
      let other = try await Browser.signedIn(world, as: World.iris)
      #expect(!(try await other.get("/administrators").says("UTC+5:30")))
      for wrong in [
        ["zone": "Mars/Base", "theme": "dark"],
        ["zone": "UTC", "theme": "pink"], [:],
      ] as [Form] {
        let answer = try await browser.submit("/account/preferences", wrong)
        #expect(answer.status == .unprocessableContent)
        Markup.check(answer)
      }
    }
  }

  @Test(arguments: [World.publicURL, "http://127.0.0.1:8080"])
  func `the theme is remembered for pages before sign-in`(address: String) async throws {
    try await World.withSampleData(publicURL: address) { world in
      let name = (world.origin.hasPrefix("https:") ? "__Host-" : "") + "countersign-theme"
      func cookie(_ answer: Answer) -> String? {
        answer.response.fields.all(.setCookie).first { $0.hasPrefix(name + "=") }
      }
      let secure = world.origin.hasPrefix("https:") ? "; Secure" : ""
      func kept(_ theme: String) -> String {
        "\(name)=\(theme); Path=/; Max-Age=31536000\(secure); HttpOnly; SameSite=Strict"
      }
      let dark: Form = ["zone": "UTC", "theme": "dark"]
      let browser = try await Browser.signedIn(world)
      #expect(cookie(try await browser.submit("/account/preferences", dark)) == kept("dark"))
      _ = try await browser.submit("/sign-out", [:])
      #expect(try await browser.get("/sign-in").says("data-theme=\"dark\""))

      // Another browser learns it at sign-in, and the session's own theme comes first.
      let form: Form = ["email": World.ada, "password": World.password]
      let other = Browser(world)
      #expect(!(try await other.get("/sign-in").says("data-theme")))
      #expect(cookie(try await other.submit("/sign-in", form)) == kept("dark"))
      let system: Form = ["zone": "UTC", "theme": "system"]
      #expect(cookie(try await browser.submit("/sign-in", form)) == nil)
      #expect(cookie(try await browser.submit("/account/preferences", system)) == kept("system"))
      #expect(!(try await other.get("/account").says("data-theme")))
      _ = try await browser.submit("/sign-out", [:])
      #expect(!(try await browser.get("/sign-in").says("data-theme")))

      for wrong in ["pink", "DARK", "", "dark\"><script>"] {
        let page = try await Browser(world).send(
          .get, "/sign-in", fields: [.cookie: "\(name)=\(wrong)"])
        #expect(page.status == .ok && !page.says("data-theme"))
      }
    }
  }

  @Test(
    arguments: [
      ("Europe/Berlin", 1_793_697_131, "Nov 3, 2026, 10:12\u{00A0}UTC+1"),
      ("Europe/Berlin", 1_782_000_000, "Jun 21, 2026, 02:00\u{00A0}UTC+2"),
      ("Europe/London", 1_793_697_131, "Nov 3, 2026, 09:12\u{00A0}UTC"),
      ("America/St_Johns", 1_793_697_131, "Nov 3, 2026, 05:42\u{00A0}UTC−3:30"),
      ("Pacific/Kiritimati", 1_793_697_131, "Nov 3, 2026, 23:12\u{00A0}UTC+14"),
      ("Nowhere/Town", 1_793_697_131, "Nov 3, 2026, 09:12\u{00A0}UTC"),
    ] as [(String, Int64, String)])
  func `times are shown with the zone's offset at that time`(
    zone: String, seconds: Int64, words: String
  )
    throws
  {
    #expect(try Self.words(seconds, zone) == words)
    // Again, with the cached offset.
    #expect(try Self.words(seconds + 1, zone) == words)
  }

  @Test func `a daylight saving change is exact to the second`() throws {
    // March 29, 2026, 01:00 UTC.
    #expect(try Self.words(1_774_745_999, "Europe/Berlin") == "Mar 29, 2026, 01:59\u{00A0}UTC+1")
    #expect(try Self.words(1_774_746_000, "Europe/Berlin") == "Mar 29, 2026, 03:00\u{00A0}UTC+2")
    #expect(try Self.words(1_774_745_999, "Europe/Berlin") == "Mar 29, 2026, 01:59\u{00A0}UTC+1")
  }

  private static func words(_ seconds: Int64, _ zone: String) throws -> String {
    let times = Times(.english, zone: zone)
    return Message.value(times.value(Instant(seconds: seconds))).english
  }

  @Test(arguments: [
    (
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0",
      "Edge on Windows"
    ),
    ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
    (
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iPhone"
    ),
    ("", "Unknown browser"), ("<script>", "Unknown browser"),
  ])
  func `browsers are shown by name and system`(agent: String, name: String) {
    #expect(BrowserText.name(agent).english == name)
  }
}
