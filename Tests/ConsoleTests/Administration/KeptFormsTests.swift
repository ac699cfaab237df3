import Database
import HTTP
import Identity
import Testing

@testable import Console

/// Forms of expired sessions, with several tabs.
@Suite struct KeptFormsTests {
  private static let form: Form = ["name": "Typed long ago", "id": "typed-project"]
  private static let review = Drafts.address(Drafts.mark(of: "/projects/new"))

  /// Signs in and lets the session expire.
  ///
  /// - Returns: The browser, and the CSRF token of the pages that it still shows.
  private func expired(
    _ world: World, as email: String = World.ada
  ) async throws -> (browser: Browser, csrf: String) {
    let browser = try await Browser.signedIn(world, as: email)
    let csrf = try await browser.get("/sign-out").csrf
    world.clock.advance(seconds: SessionLimits.standard.idle + 61)
    return (browser, csrf)
  }

  private func with(_ csrf: String, _ form: Form = form) -> Form {
    var form = form
    form.add("csrf", csrf)
    return form
  }

  @Test func `a form of an expired session is kept after a sign-in in another tab, but not sent`()
    async throws
  {
    try await World.withSampleData { world in
      let (browser, old) = try await expired(world)
      #expect(try await browser.givePassword().location == "/")
      let sent = try await browser.post("/projects/new", with(old))
      #expect(sent.status == .seeOther && sent.location == Self.review)
      #expect(
        (try? await world.identity.pools.existingSettings(project: ID("typed-project"))) == nil)
      let page = try await browser.get(Self.review)
      #expect(page.says("<h2>Create project</h2>") && page.says("value=\"typed-project\""))
      let done = try await browser.post("/projects/new", with(try page.csrf))
      #expect(done.status == .seeOther)
      #expect(try await browser.get(Self.review).location == "/")
    }
  }

  @Test func `a form whose session expires while it's handled is kept, and nothing is done`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let csrf = try await browser.get("/sign-out").csrf
      // The session expires after the request's session was read, and its time of last use written.
      world.clock.advance(seconds: 61)
      try await world.database.write { connection in
        let expire = "UPDATE console_session SET created_at = 1"
        let event = "AFTER UPDATE OF last_seen_at ON console_session"
        switch connection.dialect {
        case .sqlite:
          try connection.runScript(
            "CREATE TRIGGER expire /* test */ \(event) BEGIN \(expire); END")
        case .postgreSQL:
          try connection.runScript(
            """
            CREATE FUNCTION expire() RETURNS trigger LANGUAGE plpgsql /* test */ AS $$
              BEGIN \(expire); RETURN NULL; END $$;
            CREATE TRIGGER expire \(event) FOR EACH ROW EXECUTE FUNCTION expire()
            """)
        }
      }
      let sent = try await browser.post("/projects/new", with(csrf))
      #expect(sent.location == "/sign-in?next=%2Fprojects%2Fnew&kept=1")
      #expect(
        (try? await world.identity.pools.existingSettings(project: ID("typed-project"))) == nil)
      #expect(try await browser.givePassword(next: "/projects/new").location == Self.review)
    }
  }

  @Test func `another's form, one of an ended session, and one from another site aren't kept`()
    async throws
  {
    try await World.withSampleData { world in
      let (browser, old) = try await expired(world)
      _ = try await browser.givePassword(World.tomas)
      let others = try await browser.post("/projects/new", with(old))
      #expect(others.status == .forbidden && others.says("What you entered wasn’t kept."))
      let own = try await Browser.signedIn(world)
      let csrf = try await own.get("/sign-out").csrf
      _ = try await own.post("/sign-out", ["csrf": csrf])
      _ = try await own.givePassword()
      #expect(try await own.post("/projects/new", with(csrf)).status == .forbidden)
      #expect(try await own.post("/projects/new", with("x")).status == .forbidden)
      let (again, known) = try await expired(world)
      _ = try await again.givePassword()
      let foreign = try await again.send(
        .post, "/projects/new", form: with(known),
        fields: [.origin: "https://evil.example", .secFetchSite: "cross-site"])
      #expect(foreign.status == .forbidden)
      #expect(try await again.get("/sign-in/answers").location == "/")
    }
  }

  @Test
  func `two forms are kept, and the one of the page that the sign-in continues to is offered`()
    async throws
  {
    try await World.withSampleData { world in
      let (browser, csrf) = try await expired(world)
      _ = try await browser.post("/projects/new", with(csrf))
      let second = try await browser.post(
        "/account/preferences", with(csrf, ["zone": "Europe/Vienna", "theme": "dark"]))
      #expect(second.location?.hasSuffix("&kept=1") == true)
      let signedIn = try await browser.givePassword(next: "/projects/new")
      #expect(signedIn.location == Self.review)
      let first = try await browser.get(Self.review)
      #expect(first.says("typed-project") && !first.says("Europe/Vienna"))
      let other = Drafts.address(Drafts.mark(of: "/account/preferences"))
      // The second tab still shows the sign-in page.
      #expect(try await browser.get(try #require(second.location)).location == other)
      #expect(try await browser.get(other).says("Europe/Vienna"))
      _ = try await browser.post("/projects/new", with(try first.csrf))
      #expect(try await browser.get(Self.review).location == "/")
      #expect(try await browser.get(other).says("Europe/Vienna"))
    }
  }

  @Test func `a form isn't offered after a sign-in that continues to another page`() async throws {
    try await World.withSampleData { world in
      let (browser, csrf) = try await expired(world)
      _ = try await browser.post("/projects/new", with(csrf))
      #expect(try await browser.givePassword(next: "/users").location == "/users")
    }
  }

  @Test func `the page says what the form does, to whom, and with which fields`() async throws {
    try await World.withSampleData { world in
      let (browser, csrf) = try await expired(world, as: World.nadia)
      let address = try await world.eu + "/users/\(World.chiara)/sessions/end"
      _ = try await browser.post(
        address, with(csrf, ["note": "Travels <b>until</b> May.", "caller-code": "123456"]))
      let signedIn = try await browser.givePassword(World.nadia, next: address)
      let page = try await browser.get(try #require(signedIn.location))
      Markup.check(page)
      #expect(page.says("<h2>End sessions</h2>") && page.says("Chiara Bianchi"))
      #expect(page.says("<dt>note</dt><dd><bdi>Travels &lt;b&gt;until&lt;/b&gt; May.</bdi></dd>"))
      #expect(page.says("<dt>caller-code</dt><dd>not saved</dd>") && !page.says("123456"))
    }
  }

  @Test func `a session's extension that comes too late isn't kept as a form`() async throws {
    try await World.withSampleData { world in
      let (browser, csrf) = try await expired(world)
      _ = try await browser.post("/account/session-extension", ["csrf": csrf])
      #expect(try await browser.givePassword().location == "/")
    }
  }
}
