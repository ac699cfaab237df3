import Crypto
import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// Enrollment links, from support's form to the user's app.
@Suite struct EnrollmentLinkPageTests {
  /// A user without a factor.
  private static let uid = "u77TnC0aPzQ4hW1sGv9M"
  static let page = "/__/auth/enroll"

  private func verified(_ world: World) async throws {
    var change = AccountChange()
    change.emailVerified = true
    _ = try await world.identity.accounts.update(
      try await world.euPool, ID(Self.uid), change, by: Author(actor: .commandLine))
  }

  /// Sends a link, and returns its path and query.
  func send(_ world: World) async throws -> String {
    try await verified(world)
    let nadia = try await Browser.signedIn(world, as: World.nadia)
    let support = try await world.eu + "/users/\(Self.uid)/enrollment-link"
    let user = try await nadia.get(try await world.eu + "/users/\(Self.uid)")
    #expect(user.values(of: "href").contains(support))
    let sent = try await nadia.submit(support, ["reason": "replaced"])
    #expect(sent.status == .seeOther)
    let after = try await nadia.get(try #require(sent.location))
    #expect(after.says("so the link wasn’t sent to") && after.says("30 minutes"))
    #expect(!after.says(Self.page))
    #expect(after.says("· Link not used yet</span>"))
    return try await world.link(to: Self.page)
  }

  /// The code of an app that scanned the page, some steps from now.
  func code(_ page: Answer, _ world: World, step: Int64 = 0) throws -> String {
    let start = try #require(page.text.firstRange(of: "aria-label=\"key\">"))
    let key = page.text[start.upperBound...].prefix { $0 != "<" }.replacing(" ", with: "")
    let secret = Secret(try #require(Base32.decode(String(key))))
    let app = try #require(OneTimePassword(secret: secret))
    return try app.code(step: app.step(at: world.clock.now.seconds) + step)
  }

  func form(_ page: Answer, code: String, name: String = "Pixel") throws -> Form {
    [
      "csrf": try page.csrf, "link": try #require(page.value(of: "link")),
      "ticket": try #require(page.value(of: "ticket")), "code": code, "name": name,
    ]
  }

  @Test func `a user scans the QR code, enters a code, and sees what's next`() async throws {
    try await World.withSampleData { world in
      let link = try await send(world)
      let browser = Browser(world)
      let page = try await browser.get(link)
      #expect(page.status == .ok && page.says("<svg") && page.says("otpauth://totp/"))
      #expect(page.response.fields[.cacheControl] == "no-store")
      #expect(!page.says("Projects") && !page.says("/sign-in"))
      let done = try await browser.post(
        Self.page, try form(page, code: try code(page, world)))
      #expect(done.status == .seeOther)
      let after = try await browser.get(try #require(done.location))
      #expect(after.status == .ok && after.says("Your authenticator app is set up"))
      #expect(!after.says("otpauth"))
      #expect(try await world.user(Self.uid).factors.map(\.displayName) == ["Pixel"])
      let again = try await browser.get(link)
      #expect(again.status == .gone && again.says("This link was already used"))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await nadia.get(try await world.eu + "/users/\(Self.uid)")
      #expect(user.says("link sent by: Nadia K.") && !user.says("enrollment-link\""))
      #expect(user.says("· Link used Nov 20, 2026, "))
    }
  }

  @Test func `an incorrect code keeps the secret and the name and says what to do`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let page = try await browser.get(try await send(world))
      let wrong = try await browser.post(
        Self.page, try form(page, code: try code(page, world, step: -120)))
      #expect(wrong.status == .unprocessableContent && wrong.says("sets its time automatically"))
      let (first, same) = (try code(page, world), try code(wrong, world))
      #expect(first == same)
      #expect(wrong.says("value=\"Pixel\"") && wrong.says("aria-invalid=\"true\""))
      // More often than the link has tries.
      for typed in ["", "1", "12345", "abcdef", "", "1", "12345", "abcdef", "", "1", "12345"] {
        let malformed = try await browser.post(Self.page, try form(wrong, code: typed))
        #expect(malformed.status == .unprocessableContent, "\(typed)")
        #expect(malformed.says("Enter the six-digit code"), "\(typed)")
      }
      let long = try await browser.post(
        Self.page,
        try form(page, code: try code(page, world), name: String(repeating: "x", count: 101)))
      #expect(long.says("Shorten the name to 100 characters."))
      world.clock.advance(seconds: 901)
      let late = try await browser.post(
        Self.page, try form(page, code: try code(page, world)))
      #expect(late.status == .unprocessableContent && late.says("open for too long"))
      let (old, other) = (try code(page, world), try code(late, world))
      #expect(old != other)
      world.clock.advance(seconds: 900)
      let link = try #require(page.value(of: "link"))
      let over = try await Browser(world).get("\(Self.page)?code=\(link)")
      #expect(over.status == .gone && over.says("valid for 30 minutes"))
    }
  }

  @Test func `a browser keeps the secret until it's enrolled or expires, and no one else gets it`()
    async throws
  {
    try await World.withSampleData(publicURL: "https://mfa.example.com") { world in
      let link = try await send(world)
      let (browser, scanner) = (Browser(world), Browser(world))
      let scanned = try await scanner.get(link)
      let page = try await browser.get(link)
      let name = "__Secure-countersign-enrollment="
      let cookie = try #require(
        page.response.fields.all(.setCookie).first { $0.hasPrefix(name) })
      for attribute in ["Path=\(Self.page)", "Secure", "HttpOnly", "SameSite=Lax"] {
        #expect(cookie.contains("; \(attribute)"), "\(cookie)")
      }
      // As after a scanner of mails opened it, a reload, and an incorrect code.
      let (key, other) = (try code(page, world), try code(scanned, world))
      #expect(key != other)
      #expect(try await code(browser.get(link), world) == key)
      #expect(try await code(scanner.get(link), world) == other)
      let wrong = try await browser.post(Self.page, try form(page, code: other))
      #expect(wrong.status == .unprocessableContent && wrong.says("then scan this one"))
      #expect(try await code(browser.get(link), world) == key)
      // It's not for another link, forged, or expired.
      let stranger = Browser(world)
      let value = cookie.dropFirst(name.count).prefix { $0 != ";" }
      for value in ["", "x", String(value.reversed())] {
        let forged = try await stranger.send(.get, link, fields: [.cookie: name + value])
        #expect(forged.status == .ok)
        #expect(try code(forged, world) != key)
      }
      world.clock.advance(seconds: 901)
      let late = try await browser.get(link)
      let (old, new) = (try code(page, world), try code(late, world))
      #expect(old != new)
      // A setup that began in time outlasts the link.
      world.clock.advance(seconds: 899 - 1)
      let last = try await browser.get(link)
      world.clock.advance(seconds: 2)
      let reloaded = try await browser.get(link)
      #expect(try reloaded.status == .ok && code(reloaded, world) == code(last, world))
      #expect(try await scanner.get(link).status == .gone)
      let done = try await browser.post(
        Self.page, try form(reloaded, code: try code(reloaded, world)))
      #expect(done.status == .seeOther)
      let end = done.response.fields.all(.setCookie).first { $0.hasPrefix(name) }
      #expect(end?.contains("Path=\(Self.page); Max-Age=0;") == true)
    }
  }

  @Test func `an incorrect code keeps the choice to end all sessions`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let page = try await browser.get(try await send(world))
      var ticked = try form(page, code: try code(page, world, step: -120))
      let unticked = try await browser.post(Self.page, ticked)
      ticked.add("end-sessions", "on")
      let kept = try await browser.post(Self.page, ticked)
      let checked = "name=\"end-sessions\" value=\"on\" checked"
      #expect(unticked.status == .unprocessableContent && !unticked.says(checked))
      #expect(kept.status == .unprocessableContent && kept.says(checked))
    }
  }

  @Test func `invalid links get an error page, and hostile values are escaped`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      for query in ["", "?code=", "?code=x", "?code=<script>", "?done=1"] {
        guard Target(Self.page + query) != nil else { continue }
        let page = try await browser.get(Self.page + query)
        #expect(page.status == .notFound && page.says("This link is invalid"), "\(query)")
      }
      let link = try await send(world)
      let page = try await browser.get(link)
      let stale = try await browser.post(
        Self.page, ["link": try #require(page.value(of: "link")), "code": "1"])
      #expect(stale.status == .forbidden)
      let name = "\u{202E}<script>alert(1)</script>" + String(repeating: "🦄", count: 60)
      try await world.rename(ID("acme-retail"), to: name)
      let hostile = try await browser.get(link)
      #expect(hostile.status == .ok && !hostile.says("<script>a"))
      let sent = try await browser.post(
        Self.page, try form(hostile, code: "x", name: "\"><script>alert(1)</script>"))
      #expect(!sent.says("<script>a") && sent.says("&lt;script&gt;"))
      let other = try await browser.post(
        Self.page,
        ["csrf": try page.csrf, "link": "x", "ticket": "<script>", "code": "1", "name": "x"])
      #expect(other.status == .notFound)
    }
  }

  @Test func `no form is shown for a user who already has an app`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await nadia.get(user + "/enrollment-link")
      #expect(page.says("already has an authenticator app") && !page.says("name=\"reason\""))
      let whole = try await nadia.get(user)
      #expect(!whole.says("enrollment-link"))
    }
  }

  @Test func `the pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let link = try await send(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      try Snapshot.check(
        try await nadia.get(try await world.eu + "/users/\(Self.uid)/enrollment-link").text,
        named: "enrollment-link.html")
      let browser = Browser(world)
      let page = try await browser.get(link)
      Markup.check(page)
      try Snapshot.check(try settled(page), named: "enroll.html")
      let wrong = try await browser.post(
        Self.page, try form(page, code: try code(page, world, step: -120)))
      try Snapshot.check(try settled(wrong), named: "enroll-wrong.html")
      let done = try await browser.post(
        Self.page, try form(page, code: try code(page, world)))
      try Snapshot.check(
        try await browser.get(try #require(done.location)).text, named: "enroll-done.html")
    }
  }

  /// The page, with values that differ between runs replaced.
  private func settled(_ page: Answer) throws -> String {
    page.text.replacing(try page.csrf, with: "CSRF")
      .replacing(try #require(page.value(of: "ticket")), with: "TICKET")
  }
}
