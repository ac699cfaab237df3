import Foundation
import HTTP
import Identity
import Localization
import Testing
import Text

@testable import Console

/// Restoring a form that was sent after the session expired.
@Suite struct KeptAnswersTests {
  /// The page that shows the form.
  static let review = Drafts.address(Drafts.mark(of: "/projects/new"))
  static let form: Form = ["name": "Typed “long” <b>ago</b>", "id": "typed-project"]

  /// Signs in, opens a form, and sends it after the session expired.
  private func late(
    _ world: World, as email: String = World.ada, form: Form = form, fields: Fields? = nil,
    csrf: String? = nil
  ) async throws -> (browser: Browser, answer: Answer) {
    let browser = try await Browser.signedIn(world, as: email)
    var form = form
    form.add("csrf", try await browser.get("/sign-out").csrf)
    if let csrf { form = Form(form.entries.filter { $0.name != "csrf" }); form.add("csrf", csrf) }
    world.clock.advance(seconds: SessionLimits.standard.idle + 61)
    guard let fields else { return (browser, try await browser.post("/projects/new", form)) }
    return (browser, try await browser.send(.post, "/projects/new", form: form, fields: fields))
  }

  @Test func `the form is restored after sign-in and sent with a button`() async throws {
    try await World.withSampleData { world in
      let (browser, answer) = try await late(world)
      #expect(answer.location == "/sign-in?next=%2Fprojects%2Fnew&kept=1")
      let signInPage = try await browser.get(try #require(answer.location))
      #expect(signInPage.says("recover what you entered"))
      #expect(!signInPage.says("typed-project"))
      let signedIn = try await browser.givePassword(next: "/projects/new")
      #expect(signedIn.location == Self.review)
      let page = try await browser.get(Self.review)
      Markup.check(page)
      #expect(page.says("<h2>Create project</h2>"))
      #expect(page.says("<dt>id</dt><dd><bdi>typed-project</bdi></dd>"))
      #expect(page.says("<form class=\"card stack\" method=\"post\" action=\"/projects/new\">"))
      #expect(page.says("value=\"Typed “long” &lt;b&gt;ago&lt;/b&gt;\""))
      let created = try? await world.identity.pools.existingSettings(project: ID("typed-project"))
      #expect(created == nil)
      var again = Self.form
      again.add("csrf", try page.csrf)
      #expect(try await browser.post("/projects/new", again).status == .seeOther)
      let project = try await world.identity.pools.existingSettings(project: ID("typed-project"))
      #expect(project.displayName == "Typed “long” <b>ago</b>")
      #expect(try await browser.get("/sign-in/answers").location == "/")
    }
  }

  @Test func `the form is restored after a sign-in with a code`() async throws {
    try await World.withSampleData { world in
      let (browser, _) = try await late(world)
      let (app, _) = try await world.authenticator(of: World.ada)
      // The setup ended the form's session, but the stored form remains.
      _ = try await browser.givePassword()
      let code = try world.code(of: app)
      let done = try await browser.submit("/sign-in/code", ["code": code])
      #expect(done.location == Self.review)
    }
  }

  @Test func `the form is restored after the required setup of a second factor`() async throws {
    try await World.withSampleData { world in
      let link = try await world.invitation("new@example.com", Grant(role: .owner))
      let browser = Browser(world)
      _ = try await browser.accept(link)
      var form = Self.form
      form.add("csrf", try await browser.get("/sign-out").csrf)
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      _ = try await browser.post("/projects/new", form)
      _ = try await browser.givePassword("new@example.com")
      let setUp = try await browser.get("/account/totp")
      let app = try SecondStepPageTests.app(on: setUp)
      let done = try await browser.post(
        "/account/totp",
        [
          "csrf": try setUp.csrf, "ticket": setUp.value(of: "ticket") ?? "",
          "code": try world.code(of: app),
        ])
      #expect(done.says("href=\"/sign-in/answers\">I’ve saved these codes</a>"))
      #expect(try await browser.get("/sign-in/answers").says("value=\"typed-project\""))
    }
  }

  @Test func `the form is restored only for its author, in the same browser`() async throws {
    try await World.withSampleData { world in
      let (browser, _) = try await late(world)
      #expect(try await browser.givePassword(World.tomas).location == "/")
      #expect(try await browser.get("/sign-in/answers").location == "/")
      let other = try await Browser.signedIn(world)
      #expect(try await other.get("/sign-in/answers").location == "/")
    }
  }

  @Test func `a cross-site form or one without a valid CSRF token isn't stored`() async throws {
    try await World.withSampleData { world in
      let foreign = try await late(
        world, fields: [.origin: "https://evil.example", .secFetchSite: "cross-site"])
      #expect(foreign.answer.location == "/sign-in?next=%2Fprojects%2Fnew")
      let unsigned = try await late(world, csrf: "x")
      #expect(unsigned.answer.location == "/sign-in?next=%2Fprojects%2Fnew&lost=1")
      for browser in [foreign.browser, unsigned.browser] {
        #expect(try await browser.givePassword().location == "/")
      }
    }
  }

  @Test func `secrets aren't stored, and the page says so`() async throws {
    try await World.withSampleData { world in
      let (browser, _) = try await late(
        world,
        form: ["name": "kept", "new-password": "hunter2", "current-code": "123456"])
      _ = try await browser.givePassword()
      let page = try await browser.get("/sign-in/answers")
      #expect(page.says("value=\"kept\""))
      #expect(page.says("Passwords and codes aren’t saved."))
      #expect(page.says("<dt>new-password</dt><dd>not saved</dd>"))
      for secret in ["hunter2", "123456"] { #expect(!page.says(secret)) }
    }
  }

  @Test func `only secrets are left out`() async throws {
    try await World.withSampleData { world in
      let ordinary = [
        "ticket", "code-cap", "code-attempt-days", "token-changes-per-hour", "temporary-codes",
        "recovery-codes", "tokens-remove-factors", "keys", "key", "key-id", "password-shortest",
        "was-password-shortest", "password-enforced", "secret",
      ]
      var form = Form()
      for name in ordinary { form.add(name, "value of \(name)") }
      let (browser, _) = try await late(world, form: form)
      _ = try await browser.givePassword()
      let page = try await browser.get("/sign-in/answers")
      for name in ordinary { #expect(page.says("value=\"value of \(name)\""), "\(name)") }
    }
  }

  @Test func `a form asks for an optional secret that wasn't kept, if one was entered`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/new-user"
      let pool = try await world.euPool
      for (password, omitted) in [("a good password", true), ("", false)] {
        let csrf = try await browser.get("/sign-out").csrf
        world.clock.advance(seconds: SessionLimits.standard.idle + 61)
        var form: Form = ["csrf": csrf, "email": "late@example.com", "password": password]
        if omitted { form.add("password-omitted", "yes") }
        _ = try await browser.post(address, form)
        let signedIn = try await browser.givePassword(next: address)
        let page = try await browser.get(try #require(signedIn.location))
        Markup.check(page)
        #expect(page.says("<dt>password</dt><dd>not saved</dd>") == !password.isEmpty)
        #expect(page.says("You’ll be asked for them again.") == !password.isEmpty)
        #expect(!page.says("<dt>password-"))
        var again: Form = ["csrf": try page.csrf]
        for name in ["email", "password-entered", "password-omitted"] {
          if let value = page.value(of: name) { again.add(name, value) }
        }
        let answer = try await browser.post(address, again)
        let users = try await world.identity.accounts.search(pool, "late@example.com").hits
        if password.isEmpty {
          #expect(answer.status == .seeOther && users.count == 1)
        } else {
          #expect(answer.status == .unprocessableContent && users.isEmpty)
          #expect(answer.says("Enter the password again.") && !answer.says(password))
          Markup.check(answer)
        }
      }
    }
  }

  @Test func `a form is kept whatever characters it has`() throws {
    let path = "/projects/new?from=%C3%A4&to"
    let fields: [Form.Entry] = [
      Form.Entry(name: "a\0b", value: "c\0\0d"), Form.Entry(name: "", value: "\0"),
      Form.Entry(name: "list", value: "\"one\",\r\n\\ \u{1}"),
      Form.Entry(name: "e", value: "e\u{301}"),
    ]
    let kept = Drafts.encoded(path, fields, leftOut: ["code", "password"])
    let draft = try #require(Drafts.decoded(kept))
    #expect(draft.target.address == path && draft.answers == fields)
    #expect(draft.secrets == ["code", "password"])
    // What an earlier version kept.
    #expect(Drafts.decoded(Array("\(path)\0\0name\0Shop\0".utf8)) == nil)
  }

  @Test func `each field for a password or code in a template is known as a secret`() throws {
    let known = Drafts.secrets
    var names: Set<UntrustedText> = []
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Templates").standardized
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "mustache" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for input in text.matches(of: #/<input[^>]*>/#).map({ String($0.output) })
      where input.contains("type=\"password\"") || input.contains("one-time-code") {
        guard let name = input.firstMatch(of: #/name="([a-z-]+)"/#) else { continue }
        names.insert(UntrustedText(String(name.output.1)))
      }
    }
    #expect(names.count > 4 && names.isSubset(of: known), "\(names.subtracting(known))")
  }

  @Test func `a form is sent to its whole address, whose query the page lists`() async throws {
    try await World.withSampleData { world in
      let address = try await world.eu + "/users.csv?factor=none&sort=email"
      let browser = try await Browser.signedIn(world)
      let csrf = try await browser.get("/sign-out").csrf
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      _ = try await browser.post(address, ["csrf": csrf])
      let signedIn = try await browser.givePassword()
      let page = try await browser.get(try #require(signedIn.location))
      Markup.check(page)
      #expect(page.says("<dt>factor</dt><dd><bdi>none</bdi></dd>"))
      #expect(page.values(of: "action").contains(address))
      try await world.reauthenticate()
      let file = try await browser.post(address, ["csrf": try page.csrf])
      #expect(!file.says("<form"))
      #expect(file.text == (try await browser.download(address).text))
      #expect(file.text != (try await browser.download(try await world.eu + "/users.csv").text))
      #expect(try await browser.get("/sign-in/answers").location == "/")
    }
  }

  @Test func `nothing is restored after ten minutes or after signing out`() async throws {
    try await World.withSampleData { world in
      let (browser, _) = try await late(world)
      world.clock.advance(seconds: 601)
      #expect(try await browser.givePassword().location == "/")
      let token = try await browser.get("/sign-out").csrf
      let cookies = browser.cookieField
      _ = try await browser.post("/sign-out", ["csrf": token])
      let replayed = try await browser.send(
        .post, "/projects/new", form: ["csrf": token, "name": "x"],
        fields: [.origin: world.origin, .cookie: cookies])
      #expect(replayed.location == "/sign-in?next=%2Fprojects%2Fnew&lost=1")
      let signIn = try await browser.get(try #require(replayed.location))
      #expect(signIn.says("the form wasn’t kept."))
    }
  }

  @Test
  func `a form is stored up to the size that the server accepts, and otherwise said to be lost`()
    async throws
  {
    try await World.withSampleData { world in
      let list = String(repeating: "someone@example.com\r\n", count: 10_000)
      let (kept, _) = try await late(world, form: ["users": list])
      #expect(try await kept.givePassword(next: "/projects/new").location == Self.review)
      let (browser, answer) = try await late(
        world, form: ["name": String(repeating: "x", count: ConsoleStorage.Kind.draft.largest)])
      #expect(answer.location == "/sign-in?next=%2Fprojects%2Fnew&lost=1")
      #expect(try await browser.get(try #require(answer.location)).says("the form wasn’t kept."))
      #expect(try await browser.givePassword().location == "/")
    }
  }

  @Test func `a form is kept in no more bytes than a browser sends`() async throws {
    try await World.withSampleData { world in
      // A browser sends these characters as one byte each.
      let words = String(repeating: "a * b ", count: (1 << 20) / 6)
      let (browser, answer) = try await late(world, form: ["name": words, "id": ""])
      #expect(answer.location == "/sign-in?next=%2Fprojects%2Fnew&kept=1")
      _ = try await browser.givePassword(next: "/projects/new")
      #expect(try await browser.get(Self.review).says("value=\"\(words)\""))
    }
  }

  @Test func `forms are kept up to the size that their routes accept`() async throws {
    try await World.empty { world in
      for route in world.console.routes where route.route.method == .post {
        let target = try #require(Target(route.route.example))
        let limit = Console.bodyLimit(target) ?? 1 << 20
        #expect(limit + (16 << 10) <= ConsoleStorage.Kind.draft.largest, "\(route.route)")
      }
    }
  }

  @Test func `the action of each form's address is its route's own`() async throws {
    try await World.empty { world in
      let routes = KeptFormRoutes(world.console.routes)
      for route in world.console.routes where route.route.method == .post {
        let target = try #require(Target(route.route.example))
        let action = route.actions.first ?? route.preparedActions.first
        #expect(routes.action(of: target)?.english == route.name?.english, "\(route.route)")
        #expect((route.name == nil) == (action == nil), "\(route.route)")
      }
      let removal = try #require(Target(RemoveSignInProvider.path()))
      #expect(routes.action(of: removal)?.english == "Remove sign-in provider")
    }
  }
}

extension Route {
  /// An address of the route.
  fileprivate var example: String {
    "/"
      + components.map { component in
        switch component {
        case .literal(let text): text
        case .parameter(let suffix): "0\(suffix)"
        }
      }.joined(separator: "/")
  }
}
