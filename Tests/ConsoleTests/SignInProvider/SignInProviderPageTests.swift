import HTTP
import Identity
import JSON
import TestProvider
import Testing
import Text

@testable import Console

/// The pages of the provider with which administrators sign in.
@Suite struct SignInProviderPageTests {
  private static let page = "/administrators/sign-in-provider"

  static let form: Form = [
    "name": "Example ID", "issuer": TestProvider.issuer,
    "client-id": TestProvider.clientID, "client-secret": "s3cret",
    "groups-claim": "groups", "mfa-values": "mfa\r\notp", "scopes": "openid profile email",
    "roles": "admins: owner *", "note": "Single sign-on",
  ]

  /// The form without some fields.
  private static func form(without names: Set<String>) -> Form {
    var left = Form()
    for name in [
      "name", "issuer", "client-id", "client-secret", "groups-claim", "mfa-values", "scopes",
      "roles", "note",
    ] where !names.contains(name) {
      left.add(name, form.text(name) ?? "")
    }
    return left
  }

  /// The form without a new secret, and with a break-glass account.
  static func form(breakGlass id: String) -> Form {
    var form = form(without: ["client-secret"])
    form.add("client-secret", "")
    form.add("break-glass-account", id)
    return form
  }

  /// Sets the provider up as Ada.
  static func setUp(_ world: World) async throws -> Browser {
    let ada = try await Browser.signedIn(world)
    let saved = try await ada.submit(page, form)
    guard saved.location == page else { throw Missing("provider: \(saved.text)") }
    return ada
  }

  /// Follows a sign-in to the provider and back.
  static func signIn(
    _ browser: Browser, at address: String = "/sign-in/provider"
  ) async throws -> Answer {
    let start = try await browser.get(address)
    #expect(start.status == .found)
    return try await come(browser, try #require(start.location))
  }

  static func come(_ browser: Browser, _ address: String) async throws -> Answer {
    let answer = try browser.world.provider.signIn(at: address)
    return try await browser.get(
      "/sign-in/provider/callback?code=\(answer.code)&state=\(answer.state)")
  }

  @Test func `the form keeps what was entered, and says what's wrong`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let empty = try await ada.get(Self.page)
      Markup.check(empty)
      #expect(empty.says("https://mfa.example.com/sign-in/provider/callback"))
      #expect(!empty.says("name=\"break-glass-account\""))
      var wrong = Self.form(without: ["issuer", "roles"])
      wrong.add("issuer", TestProvider.issuer + "/")
      let refused = try await ada.submit(Self.page, wrong)
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent && refused.says("Enter at most 200 lines."))
      wrong.add("roles", "admins: owner *")
      let other = try await ada.submit(Self.page, wrong)
      #expect(other.says("names a different issuer") && other.says("value=\"Example ID\""))
      #expect(!other.says("s3cret"))
      #expect(try await ada.submit(Self.page, Self.form).location == Self.page)
      let saved = try await ada.get(Self.page)
      Markup.check(saved)
      #expect(saved.says("The sign-in provider was saved.") && !saved.says("s3cret"))
      #expect(saved.says(">admins: owner *</textarea>") && saved.says("A secret is stored."))
      Markup.check(try await ada.get(Self.page + "/removal"))
      Markup.check(try await ada.get("/administrators"))
    }
  }

  @Test func `a person with a role signs in, and one without is told so`() async throws {
    try await World.withSampleData { world in
      let ada = try await Self.setUp(world)
      let browser = Browser(world)
      let page = try await browser.get("/sign-in?next=/account")
      Markup.check(page)
      #expect(page.says("Sign in with Example ID"))
      let arrived = try await Self.signIn(browser, at: "/sign-in/provider?next=/account")
      #expect(arrived.location == "/account")
      let account = try await browser.get("/account")
      Markup.check(account)
      #expect(account.says("Nora Example") && account.says("Signed in with Example ID"))
      let stranger = Browser(world)
      world.provider.change { behavior in
        behavior.subject = "another"
        behavior.groups = ["guests", "visitors"]
      }
      let refused = try await Self.signIn(stranger)
      Markup.check(refused)
      #expect(refused.status == .forbidden)
      #expect(refused.says("none of your groups has a role"))
      world.provider.change { behavior in
        behavior.groups = ["admins"]
        behavior.email = World.ada
      }
      let taken = try await Self.signIn(stranger)
      #expect(taken.says("isn’t linked with Example ID") && taken.status == .forbidden)
      _ = ada
    }
  }

  @Test func `the answer of another site's page is repeated from this one`() async throws {
    try await World.withSampleData { world in
      _ = try await Self.setUp(world)
      let browser = Browser(world)
      let start = try await browser.get("/sign-in/provider")
      let answer = try world.provider.signIn(at: try #require(start.location))
      let address = "/sign-in/provider/callback?code=\(answer.code)&state=\(answer.state)"
      let cross: Fields = [.secFetchSite: "cross-site"]
      let page = try await browser.send(.get, address, fields: cross)
      Markup.check(page)
      #expect(page.status == .ok)
      let refresh = try #require(page.response.fields["Refresh"])
      #expect(refresh == "0; url=\(address)&returned=1")
      #expect(try await browser.get(address + "&returned=1").location == "/")
      // A used answer, and one without a request of this browser.
      #expect(try await browser.get(address).status == .unprocessableContent)
      #expect(try await Browser(world).get(address).status == .unprocessableContent)
    }
  }

  @Test func `an administrator links their account, and confirms their identity`() async throws {
    try await World.withSampleData { world in
      let ada = try await Self.setUp(world)
      let path = "/account/reauthentication/provider"
      let question = try await ada.get(path)
      Markup.check(question)
      #expect(question.says("Link with Example ID"))
      let left = try await ada.submit(path, [:])
      Markup.check(left)
      let address = try #require(left.response.fields["Refresh"])
      #expect(address.hasPrefix("0; url=\(TestProvider.issuer)/authorize?"))
      let linked = try await Self.come(ada, String(address.dropFirst("0; url=".count)))
      #expect(linked.location == "/account")
      let account = try await ada.get("/account")
      #expect(account.says("Your account is linked."))
      Markup.check(try await ada.get(path + "?next=/account/preferences"))
      let confirming = try await ada.submit(
        path + "?next=/account/preferences", ["next": "/account/preferences"], to: path)
      let next = try #require(confirming.response.fields["Refresh"])
      world.provider.change { $0.claims = ["iat": 4_000_000_000] }
      let failed = try await Self.come(ada, String(next.dropFirst("0; url=".count)))
      Markup.check(failed)
      #expect(failed.says("Sign-in with Example ID failed") && !failed.says("You aren’t signed in"))
      #expect(failed.says("check the clocks of this server and of"))
      #expect(world.log.lines.contains { $0.contains("token-future") })
      world.provider.change { $0.claims = [:] }
      let repeated = try await ada.submit(
        path + "?next=/account/preferences", ["next": "/account/preferences"], to: path)
      let fresh = try #require(repeated.response.fields["Refresh"])
      let confirmed = try await Self.come(ada, String(fresh.dropFirst("0; url=".count)))
      #expect(confirmed.location == "/account/preferences")
    }
  }

  @Test func `a client secret that was entered isn't dropped when the form is shown again`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      var form = Self.form(without: ["name"])
      form.add("name", "")
      let unnamed = try await ada.submit(Self.page, form)
      Markup.check(unnamed)
      #expect(!unnamed.says("s3cret") && unnamed.says("Enter the client secret again."))
      // As the browser sends the returned form.
      var returned = Self.form(without: ["client-secret"])
      returned.add("client-secret", "")
      returned.add(
        "client-secret-entered", try #require(unnamed.value(of: "client-secret-entered")))
      let refused = try await ada.submit(Self.page, returned)
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("id=\"client-secret-error\"") && refused.says("Example ID"))
      #expect(refused.value(of: "client-secret-entered") == "yes")
      #expect(try await world.identity.consoleProviders.find() == nil)
      var again = Form(returned.entries.filter { $0.name != "client-secret" })
      again.add("client-secret", "s3cret")
      #expect(try await ada.submit(Self.page, again).location == Self.page)
      #expect(try await world.identity.consoleProviders.find()?.hasSecret == true)
    }
  }

  @Test func `a client secret that was entered can be left empty after all`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      var form = Self.form(without: ["client-secret", "name"])
      form.add("client-secret", "")
      form.add("client-secret-entered", "yes")
      form.add("client-secret-omitted", "yes")
      let unnamed = try await ada.submit(Self.page, form)
      Markup.check(unnamed)
      #expect(unnamed.status == .unprocessableContent)
      #expect(!unnamed.says("Enter the client secret again."))
      #expect(unnamed.says("name=\"client-secret-omitted\" value=\"yes\" checked"))
      form.add("name", "Example ID")
      #expect(try await ada.submit(Self.page, form).location == Self.page)
      #expect(try await world.identity.consoleProviders.find()?.hasSecret == false)
    }
  }

  @Test func `someone who isn't signed in learns what's wrong with the provider`() async throws {
    try await World.withSampleData { world in
      _ = try await Self.setUp(world)
      world.provider.change { behavior in
        behavior.groups = nil
        behavior.userInfoStatus = 401
      }
      let refused = try await Self.signIn(Browser(world))
      Markup.check(refused)
      #expect(refused.status == .serviceUnavailable && refused.says("You aren’t signed in"))
      #expect(refused.says("its userinfo response (HTTP 401) can’t be used"))
      #expect(!refused.says("You’re still signed in"))
      #expect(world.log.lines.contains { $0.contains("userinfo-401") })
    }
  }

  @Test(arguments: [false, true])
  func `an email about the break-glass account is promised only with a mail server`(
    carriesMail: Bool
  ) async throws {
    try await World.withSampleData(carriesMail: carriesMail) { world in
      let page = try await Self.setUp(world).get(Self.page)
      #expect(page.says("everyone else who manages administrators sees an alert in the console."))
      #expect(page.says("At most 20 of them get an email.") == carriesMail)
    }
  }

  @Test func `password sign-in is turned off, and the break-glass account is reported`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Self.setUp(world)
      let nora = Browser(world)
      _ = try await Self.signIn(nora)
      let id = try await world.id(of: World.ada)
      let early = try await ada.submit(Self.page, Self.form(breakGlass: id))
      #expect(early.says("Sign in with the provider first"))
      let off = try await nora.submit(Self.page, Self.form(breakGlass: id))
      #expect(off.location == Self.page)
      let settings = try await nora.get(Self.page)
      Markup.check(settings)
      #expect(settings.says("<option value=\"\(id)\" selected>"))
      let page = try await Browser(world).get("/sign-in")
      Markup.check(page)
      #expect(page.says("Break-glass sign-in"))
      // One primary button: that of the provider.
      #expect(
        page.text.matches(of: /class="[^"]*primary"/).map { String($0.0) } == [
          "class=\"button primary\""
        ])
      let iris = Browser(world)
      let refused = try await iris.submit(
        "/sign-in", ["email": World.iris, "password": World.password])
      #expect(refused.says("or you must sign in with the provider"))
      _ = try await Browser.signedIn(world)
      let home = try await nora.get("/projects")
      Markup.check(home)
      #expect(home.says("The break-glass account signed in 1 time"))
      let on = try await nora.submit(Self.page, Self.form(breakGlass: ""))
      #expect(on.location == Self.page)
      #expect(try await world.identity.consoleProviders.breakGlassAccount() == nil)
    }
  }
}
