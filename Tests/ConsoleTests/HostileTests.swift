import HTTP
import Identity
import Testing

@testable import Console

/// Names with markup, templates, directional controls, formulas, and excessive length.
@Suite struct HostileTests {
  static let names = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onfocus='alert(1)",
    "{{frame.title}} {{{strip}}} {{>parts/pager}}",
    "\u{202E}evil\u{2066}\u{202C} then",
    "\u{2069}\u{2069}\u{200F}out",
    "👩‍👩‍👧‍👦🏳️‍🌈 Zalgo e\u{301}\u{302}\u{303}",
    "=HYPERLINK(\"http://evil\")",
    "javascript:alert(1)",
    String(repeating: "long name ", count: 400),
    String(repeating: "W", count: 4000),
  ]

  @Test(arguments: names.indices)
  func `a user's names are escaped on every page`(index: Int) async throws {
    let name = Self.names[index]
    try await World.withSampleData { world in
      var new = NewAccount()
      new.localID = "hostile"
      new.displayName = name.cut(to: Account.longestName)
      new.email = "hostile@example.com"
      new.emailVerified = true
      let account = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine))
      ).value
      try await world.enroll(account, name.cut(to: Factor.longestName))
      let browser = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/hostile"
      let factor = try await world.factor(of: "hostile").text
      let removal = "\(user)/factors/\(factor)/removal"
      let eu = try await world.eu
      for address in [
        user, removal, eu + "/users", eu + "/audit", eu, eu + "/users?q=hostile",
        "/users?q=hostile",
        user + "/factors/removal", user + "/factors/\(factor)/name", user + "/deletion",
        "/sign-in-simulator?q=hostile",
      ] {
        Markup.check(try await browser.get(address))
      }
      let file = try await browser.download(eu + "/users.csv").text
      #expect(file.contains("\"hostile\""))
      #expect(!file.contains("\"=HYPER") && !file.contains("\"@"))
      for (address, fields) in [
        (user + "/factors/\(factor)/name", ["name": name, "reason": "asked"] as Form),
        (user + "/deletion", ["confirmation": name]),
        (eu + "/new-user", ["email": name, "name": name, "password": name]),
      ] {
        let answer = try await browser.submit(address, fields)
        if answer.status != .seeOther {
          Markup.check(answer)
          #expect(answer.status == .unprocessableContent)
        }
      }
      let typed = try await browser.submit(removal, ["reason": "other\"><b>", "note": name])
      Markup.check(typed)
      #expect(typed.status == .unprocessableContent)
      let note = String(name.prefix(900))
      let removed = try await browser.submit(removal, ["reason": "lost", "note": note])
      #expect(removed.status == .seeOther)
      for address in [user, eu + "/audit", eu] { Markup.check(try await browser.get(address)) }
    }
  }

  @Test(arguments: names.indices)
  func `values of forms and searches are escaped`(index: Int) async throws {
    let name = Self.names[index]
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let query = (["q": name] as Form)
      for path in [
        "/projects", "/review", "/users", "/projects/acme-retail/tenants",
        try await world.eu + "/users",
        "/sign-in-simulator",
        "/projects/acme-retail/review",
      ] {
        Markup.check(try await browser.get(query.query(of: path)))
      }
      let project = try await browser.submit("/projects/new", ["name": name, "id": name])
      Markup.check(project)
      #expect(project.status == .unprocessableContent)
      let form = Form.policy(
        totp: name, intervals: name, sms: name, pattern: name, from: name)
      Markup.check(try await browser.submit(try await world.eu + "/policy", form))
      let stranger = Browser(world)
      let signIn = try await stranger.submit(
        "/sign-in", ["email": name, "password": name, "next": name])
      Markup.check(signIn)
      #expect(!signIn.says("value=\"\(name)\" autocomplete=\"current-password\""))
    }
  }

  @Test(arguments: names.indices)
  func `a project's name is escaped in the frame`(index: Int) async throws {
    let name = String(Self.names[index].prefix(100))
    try await World.withSampleData { world in
      let project = try await world.identity.pools.createProject(
        id: "hostile", displayName: name, by: .program(Author(actor: .commandLine))
      ).value
      let browser = try await Browser.signedIn(world)
      for path in [
        "/projects", "/projects/hostile", "/projects/hostile/policy", "/projects/hostile/users",
        "/projects/hostile/review", "/projects/hostile/policy?change=on",
      ] {
        Markup.check(try await browser.get(path))
      }
      _ = try await world.identity.policies.change(
        project.pool, by: .program(Author(actor: .commandLine))
      ) { edit throws(PolicyError) in
        edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: nil)
      }
      let off = try await browser.save(
        "/projects/hostile/policy",
        .policy(
          totp: "off", intervals: "default", pattern: "none", version: 1,
          more: ["confirmation": "hostile"]))
      #expect(off.status == .seeOther, "TOTP can be turned off even if the name can't be typed")
    }
  }
}

extension String {
  /// The first Unicode scalars, up to the maximum length.
  func cut(to length: Int) -> String { String(unicodeScalars.prefix(length)) }
}
