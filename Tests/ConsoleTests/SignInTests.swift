import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Setup, sign-in, and sign-out.
@Suite struct SignInTests {
  static func owner(_ code: String) -> Form {
    [
      "code": code, "name": "Ada M.", "email": "ada@example.com",
      "password": World.password,
    ]
  }

  @Test func `the first owner is created once`() async throws {
    try await World.empty { world in
      let first = Browser(world)
      #expect(try await first.get("/").location == "/sign-in")
      #expect(try await first.get("/sign-in").location == "/setup")
      let late = Browser(world)
      let lateToken = try await late.get("/setup").csrf
      let created = try await first.submit("/setup", Self.owner(world.setupCode))
      #expect(created.location == "/")
      #expect(try await first.get("/projects").says("New project"))
      var form = Self.owner(world.setupCode)
      form.add("csrf", lateToken)
      #expect(try await late.post("/setup", form).location == "/sign-in")
      #expect(try await late.get("/setup").location == "/sign-in")
      #expect(try await world.identity.administrators.records().count == 1)
    }
  }

  @Test(arguments: [
    ("code", "AAAA-BBBB-CCCC-DDDD", "Incorrect setup code."),
    ("email", "ada", "Enter an email address such as"),
    ("name", "", "Enter your name"),
    ("password", "short", "Use at least 12 characters"),
  ])
  func `a setup error is shown next to its field`(
    field: String, value: String, words: String
  ) async throws {
    try await World.empty { world in
      let form = Form(
        Self.owner(world.setupCode).entries.map {
          Form.Entry(
            name: $0.name, value: $0.name == UntrustedText(field) ? UntrustedText(value) : $0.value)
        })
      let answer = try await Browser(world).submit("/setup", form)
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("<title>Error: "))
      #expect(answer.says("<a href=\"#\(field)\">\(words)"))
      #expect(answer.says("id=\"\(field)-error\">\(words)"))
      if field != "name" { #expect(answer.value(of: "name") == nil || answer.says("Ada M.")) }
      #expect(!answer.says(World.password))
    }
  }

  @Test func `guessing the setup code is throttled`() async throws {
    try await World.empty { world in
      let browser = Browser(world)
      var statuses: [Status] = []
      for _ in 0..<30 {
        statuses.append(
          try await browser.submit("/setup", Self.owner("AAAA-BBBB-CCCC-DDDD")).status)
      }
      #expect(statuses.last == .tooManyRequests)
    }
  }

  @Test func `V12: known and unknown email addresses get the same error`() async throws {
    try await World.withSampleData { world in
      let known = try await Browser(world).submit(
        "/sign-in", ["email": World.ada, "password": "wrong"])
      let unknown = try await Browser(world).submit(
        "/sign-in", ["email": "eve@example.com", "password": "wrong"])
      #expect(known.status == .unprocessableContent)
      #expect(
        known.settled == unknown.settled.replacing("eve@example.com", with: World.ada))
      #expect(unknown.status == known.status)
      #expect(Array(known.response.fields) == Array(unknown.response.fields))
      #expect(known.response.fields.all(.setCookie).isEmpty)
    }
  }

  @Test func `password guessing is throttled, and the page says for how long`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      var last = try await browser.get("/sign-in")
      for _ in 0..<40 where last.status != .tooManyRequests {
        last = try await browser.submit("/sign-in", ["email": World.ada, "password": "wrong"])
      }
      #expect(last.status == .tooManyRequests)
      let wait = try #require(last.response.fields[.retryAfter].flatMap(Int64.init))
      #expect(last.says("Too many incorrect passwords. Try again in "))
      #expect(last.says("value=\"\(World.ada)\""))
      let right: Form = ["email": World.ada, "password": World.password]
      #expect(try await browser.submit("/sign-in", right).status == .tooManyRequests)
      world.clock.advance(seconds: wait + 1)
      #expect(try await browser.submit("/sign-in", right).status == .seeOther)
    }
  }

  @Test func `a known browser can sign in while others are throttled`() async throws {
    try await World.withSampleData { world in
      let known = try await Browser.signedIn(world)
      _ = try await known.submit("/sign-out", [:])
      let stranger = Browser(world)
      for _ in 0..<10 {
        _ = try await stranger.submit("/sign-in", ["email": World.ada, "password": "wrong"])
      }
      let right: Form = ["email": World.ada, "password": World.password]
      #expect(try await stranger.submit("/sign-in", right).status == .tooManyRequests)
      #expect(try await known.submit("/sign-in", right).status == .seeOther)
      // The known browser is throttled too.
      _ = try await known.submit("/sign-out", [:])
      for _ in 0..<10 {
        _ = try await known.submit("/sign-in", ["email": World.ada, "password": "wrong"])
      }
      #expect(try await known.submit("/sign-in", right).status == .tooManyRequests)
    }
  }

  @Test(arguments: [
    ("https://mfa.example.com", "__Host-countersign-device-", true),
    ("http://127.0.0.1:8080", "countersign-device-", false),
  ])
  func `each administrator's device cookie is inaccessible to scripts and other sites`(
    address: String, name: String, isSecure: Bool
  ) async throws {
    try await World.withSampleData(publicURL: address) { world in
      let browser = Browser(world)
      var names: Set<Substring> = []
      for email in [World.ada, World.nadia] {
        let answer = try await browser.submit(
          "/sign-in", ["email": email, "password": World.password])
        let lines = answer.response.fields.all(.setCookie).filter { $0.hasPrefix(name) }
        let cookie = try #require(lines.first)
        #expect(lines.count == 1)
        #expect(cookie.contains("; Path=/; Max-Age=7776000"))
        #expect(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Domain"))
        #expect(cookie.contains("; Secure") == isSecure)
        #expect(!cookie.contains(email) && !cookie.contains("@"))
        names.insert(cookie.prefix { $0 != "=" })
        _ = try await browser.submit("/sign-out", [:])
      }
      #expect(names.count == 2)
      // A failed sign-in sets no device cookie.
      let refused = try await Browser(world).submit(
        "/sign-in", ["email": World.ada, "password": "wrong"])
      #expect(!refused.response.fields.all(.setCookie).contains { $0.hasPrefix(name) })
    }
  }

  @Test func `sign-in requires both fields`() async throws {
    try await World.withSampleData { world in
      let answer = try await Browser(world).submit("/sign-in", ["email": "", "password": ""])
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("There are 2 problems"))
    }
  }

  @Test func `C2: signing out ends the session, not only the cookie`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      #expect(try await browser.get("/sign-out").says("Sign out?"))
      let token = try await browser.get("/sign-out").csrf
      let cookie = browser.cookieField
      let out = try await browser.post("/sign-out", ["csrf": token])
      #expect(out.location == "/sign-in?signed-out=1")
      #expect(out.response.fields.all(.setCookie).contains { $0.contains("Max-Age=0") })
      #expect(try await browser.get("/sign-in?signed-out=1").says("You’re signed out."))
      let replayed = try await Browser(world).send(.get, "/", fields: [.cookie: cookie])
      #expect(replayed.location == "/sign-in")
    }
  }

  @Test func `the sign-in page redirects signed-in administrators`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      #expect(try await browser.get("/sign-in").location == "/")
      #expect(try await browser.get("/sign-in?next=%2Faccount").location == "/account")
    }
  }

  @Test(arguments: [
    ("https://mfa.example.com", "__Host-countersign-session", true),
    ("http://127.0.0.1:8080", "countersign-session", false),
  ])
  func `C2: cookie names and attributes follow the public URL`(
    address: String, name: String, isSecure: Bool
  ) async throws {
    try await World.withSampleData(publicURL: address) { world in
      let browser = Browser(world)
      let page = try await browser.get("/sign-in")
      let form = try #require(page.response.fields[.setCookie])
      #expect(form.contains("SameSite=Strict") && form.contains("HttpOnly"))
      let answer = try await browser.submit(
        "/sign-in", ["email": World.ada, "password": World.password])
      let session = try #require(answer.response.fields[.setCookie])
      #expect(session.hasPrefix(name + "="))
      #expect(session.contains("; Path=/") && session.contains("; HttpOnly"))
      #expect(session.contains("; SameSite=Lax") && !session.contains("Domain"))
      #expect(session.contains("; Secure") == isSecure)
      #expect(form.contains("; Secure") == isSecure)
      #expect((answer.response.fields[.strictTransportSecurity] != nil) == isSecure)
    }
  }
}
