import Crypto
import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// The code after the password, and the roles that require a second factor.
@Suite struct SecondStepPageTests {
  @Test func `there is no session between the password and the code`() async throws {
    try await World.withSampleData { world in
      let (app, _) = try await world.authenticator(of: World.ada)
      let browser = Browser(world)
      let first = try await browser.givePassword(next: "/account")
      #expect(first.location == "/sign-in/code?next=%2Faccount")
      let cookies = first.response.fields.all(.setCookie)
      #expect(cookies.count == 1)
      let pending = try #require(cookies.first)
      #expect(pending.hasPrefix("__Host-countersign-pending="))
      #expect(pending.contains("HttpOnly") && pending.contains("SameSite=Strict"))
      #expect(pending.contains("Max-Age=600") && pending.contains("Secure"))
      #expect(try await browser.get("/").location == "/sign-in")

      let page = try await browser.get("/sign-in/code?next=%2Faccount")
      Markup.check(page)
      #expect(page.says("autocomplete=\"one-time-code\" inputmode=\"numeric\""))
      #expect(page.values(of: "href").contains("/sign-in?next=%2Faccount"))
      let form: Form = ["csrf": try page.csrf, "next": "/account"]
      var wrong = form
      wrong.add("code", "000000")
      let refused = try await browser.post("/sign-in/code", wrong)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("id=\"code-error\">Incorrect or already used code."))
      #expect(refused.value(of: "next") == "/account")
      #expect(!refused.says("000000"))
      var right = form
      right.add("code", " " + (try world.code(of: app)))
      let done = try await browser.post("/sign-in/code", right)
      #expect(done.location == "/account")
      // The session, the removal of the pending sign-in, and the device.
      #expect(done.response.fields.all(.setCookie).count == 3)
      #expect(try await browser.get("/projects").status == .ok)
      #expect(!browser.cookieField.contains("pending"))
    }
  }

  @Test func `V13: the page of the second step says that a code was already used`() async throws {
    try await World.withSampleData { world in
      let (app, _) = try await world.authenticator(of: World.ada)
      let code = try world.code(of: app)
      for isUsed in [false, true] {
        let browser = Browser(world)
        _ = try await browser.givePassword()
        let answer = try await browser.submit("/sign-in/code", ["code": code])
        #expect(answer.status == (isUsed ? .unprocessableContent : .seeOther))
        #expect(answer.says("id=\"code-error\">This code was already used.") == isUsed)
      }
    }
  }

  @Test func `a recovery code is accepted once`() async throws {
    try await World.withSampleData { world in
      let (_, codes) = try await world.authenticator(of: World.ada)
      for (code, status) in [(codes[0], Status.seeOther), (codes[0], .unprocessableContent)] {
        let browser = Browser(world)
        _ = try await browser.givePassword()
        let answer = try await browser.submit("/sign-in/code", ["recovery": code.lowercased()])
        #expect(answer.status == status)
        if status != .seeOther {
          #expect(answer.says("id=\"recovery-error\">Incorrect or already used recovery code"))
          #expect(answer.says("<details class=\"card stack\" open>"))
          Markup.check(answer)
        }
      }
    }
  }

  @Test func `the code page requires a password from the last ten minutes`() async throws {
    try await World.withSampleData { world in
      let (app, _) = try await world.authenticator(of: World.ada)
      #expect(try await Browser(world).get("/sign-in/code").location == "/sign-in")
      let browser = Browser(world)
      _ = try await browser.givePassword()
      let csrf = try await browser.get("/sign-in/code").csrf
      world.clock.advance(seconds: 601)
      let late = try await browser.post(
        "/sign-in/code", ["csrf": csrf, "code": try world.code(of: app)])
      #expect(late.location == "/sign-in?ended=1")
      #expect(try await browser.get("/sign-in?ended=1").says("The sign-in timed out"))
      #expect(try await browser.get("/sign-in/code").location == "/sign-in")
    }
  }

  @Test func `guessing codes is throttled, and the page says for how long`() async throws {
    try await World.withSampleData { world in
      let (app, _) = try await world.authenticator(of: World.ada)
      let browser = Browser(world)
      _ = try await browser.givePassword()
      var last = try await browser.get("/sign-in/code")
      for _ in 0..<6 { last = try await browser.submit("/sign-in/code", ["code": "000000"]) }
      #expect(last.status == .tooManyRequests)
      #expect(last.response.fields[.retryAfter] == "30")
      #expect(last.says("Try again in 30\u{A0}s."))
      world.clock.advance(seconds: 31)
      let right = try await browser.submit("/sign-in/code", ["code": try world.code(of: app)])
      #expect(right.status == .seeOther)
    }
  }

  @Test func `an owner without a factor is warned at first, then sees only the setup page`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await world.invitation("new@example.com", Grant(role: .owner))
      let browser = Browser(world)
      #expect(try await browser.accept(link).location == "/")
      let first = try await browser.get("/projects")
      #expect(first.says("Your role requires a second factor starting with your next sign-in."))
      #expect(first.says("<a href=\"/account/totp\">Set it up now</a>"))
      #expect(try await browser.get("/account").status == .ok)

      let later = Browser(world)
      #expect(try await later.givePassword("new@example.com").location == "/")
      for page in [
        "/", "/account", "/account/password", "/administrators",
        "/projects/acme-retail", "/sign-in/answers",
      ] {
        let leadsNowhere = page == "/" || page == "/sign-in/answers"
        #expect(
          try await later.get(page).location
            == ReturnAddress.of("/account/totp", backTo: leadsNowhere ? nil : page), "\(page)")
      }
      // The second sign-in restricts the first session too.
      #expect(
        try await browser.get("/projects").location
          == ReturnAddress.of("/account/totp", backTo: "/projects"))
      let setUp = try await later.get("/account/totp")
      Markup.check(setUp)
      #expect(setUp.says("Your role requires a second factor."))
      #expect(setUp.says("<div class=\"qr\"><svg"))
      #expect(!setUp.says("class=\"tabs\""))
      #expect(try await later.get("/sign-out").status == .ok)
      let denied = try await later.post(
        "/projects/new", ["csrf": try setUp.csrf, "name": "X", "id": "project-x"])
      #expect(denied.location == ReturnAddress.of("/account/totp", backTo: "/projects/new"))

      let app = try Self.app(on: setUp)
      let done = try await later.post(
        "/account/totp",
        [
          "csrf": try setUp.csrf, "ticket": setUp.value(of: "ticket") ?? "",
          "code": try world.code(of: app),
        ])
      #expect(done.status == .ok)
      Markup.check(done)
      #expect(done.text.matches(of: /[A-HJ-NP-Z2-9]{4}(-[A-HJ-NP-Z2-9]{4}){3}/).count == 10)
      #expect(try await later.get("/projects").status == .ok)
      // The setup ended the other session.
      #expect(try await browser.get("/").location == "/sign-in")
    }
  }

  @Test func `setting up a first factor long after sign-in requires the password`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(!(try await iris.get("/account/totp")).says("name=\"password\""))
      world.clock.advance(seconds: 301)
      let page = try await iris.get("/account/totp")
      Markup.check(page)
      #expect(page.says("<label for=\"password\">Your password</label>"))
      #expect(page.says("<h2>3. Enter the code from the app"))
      func send(_ password: String) async throws -> Answer {
        try await iris.post(
          "/account/totp",
          [
            "csrf": try page.csrf, "ticket": page.value(of: "ticket") ?? "",
            "code": try world.code(of: Self.app(on: page)), "password": password,
          ])
      }
      for (password, text) in [
        ("", "Enter your password."), ("<script>hunter2", "Incorrect password."),
      ] {
        let refused = try await send(password)
        #expect(refused.status == .unprocessableContent)
        #expect(refused.says("id=\"password-error\">\(text)"))
        #expect(!refused.says("hunter2"))
        Markup.check(refused)
      }
      for _ in 0..<9 { _ = try await send("wrong") }
      let slowed = try await send(World.password)
      #expect(slowed.status == .tooManyRequests)
      #expect(slowed.response.fields[.retryAfter] == "30")
      world.clock.advance(seconds: 31)
      #expect(try await send(World.password).says("Your second factor is on."))
    }
  }

  @Test func `C7: signing out clears the browser's cache and storage`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let out = try await browser.submit("/sign-out", [:])
      #expect(out.response.fields["Clear-Site-Data"] == "\"cache\", \"storage\"")
    }
  }

  /// An app with the setup key that the page shows.
  static func app(on page: Answer) throws -> OneTimePassword {
    guard let start = page.text.firstRange(of: "aria-label=\"Setup key\">") else {
      throw Missing("key")
    }
    let key = page.text[start.upperBound...].prefix { $0 != "<" }
    let secret = try #require(Base32.decode(key))
    #expect(page.says("secret=\(Base32.encode(secret))"))
    return try #require(OneTimePassword(secret: Secret(secret)))
  }
}
