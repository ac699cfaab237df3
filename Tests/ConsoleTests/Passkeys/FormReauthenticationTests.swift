import HTTP
import Identity
import TestAuthenticator
import Testing
import Text

@testable import Console

/// Forms that are kept while administrators without an authenticator app confirm their identity.
@Suite struct FormReauthenticationTests {
  private static let passkeyForm = "/account/reauthentication/passkey/form"
  private static let passkey = "/account/reauthentication/passkey"

  /// Adds a passkey to Ada's account, and signs her in with it in other browsers, too long ago for
  /// actions that require a re-authentication.
  private func browsers(
    _ world: World, _ count: Int
  ) async throws -> (browsers: [Browser], authenticator: TestAuthenticator) {
    let ada = try await Browser.signedIn(world)
    let authenticator = try await PasskeyPageTests.addPasskey(ada)
    let id = try await world.id(of: World.ada)
    var browsers: [Browser] = []
    for _ in 0..<count {
      let browser = Browser(world)
      let signIn = try await browser.get("/sign-in/passkey")
      let done = try await browser.post(
        "/sign-in/passkey", PasskeyPageTests.use(authenticator, signIn, as: id, world))
      #expect(done.location == "/")
      browsers.append(browser)
    }
    world.clock.advance(seconds: 1_200)
    return (browsers, authenticator)
  }

  @Test func `a reviewed policy is kept while a passkey is used, and saved with a button`()
    async throws
  {
    try await World.withSampleData { world in
      let (browsers, authenticator) = try await browsers(world, 2)
      let browser = browsers[0]
      let eu = try await world.eu
      let form = Form.policy(intervals: "10")
      let review = try await browser.submit(eu + "/policy", form)
      Markup.check(review)
      #expect(review.says("<h1>Review changes</h1>") && review.says("Use your passkey first"))
      #expect(review.values(of: "formaction").first == Self.passkeyForm)
      #expect(review.value(of: "form-address") == eu + "/policy/changes")
      var kept = form
      kept.add("csrf", try review.csrf)
      kept.add("form-address", try #require(review.value(of: "form-address")))
      let leaving = try await browser.post(Self.passkeyForm, kept)
      let answers = Drafts.address(Drafts.mark(of: eu + "/policy/changes"))
      #expect(
        leaving.location == ReturnAddress.of(Self.passkey, backTo: answers))

      let asked = try await browser.get(try #require(leaving.location))
      Markup.check(asked)
      var proof = try PasskeyPageTests.use(
        authenticator, asked, as: try await world.id(of: World.ada), world)
      proof.add("next", try #require(asked.value(of: "next")))
      #expect(try await browser.post(Self.passkey, proof).location == answers)
      let page = try await browser.get(answers)
      Markup.check(page)
      #expect(page.says("<dt>intervals</dt><dd><bdi>10</bdi></dd>"))
      #expect(page.values(of: "action").contains(eu + "/policy/changes"))
      #expect(!page.says("form-address"))
      #expect(try await world.policy.version == 2)
      // Only the browser that sent the form and its administrator have it.
      #expect(try await browsers[1].get(answers).location == "/")
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get(answers).location == "/")

      var again = form
      again.add("csrf", try page.csrf)
      #expect(try await browser.post(eu + "/policy/changes", again).status == .seeOther)
      #expect(try await world.policy.version == 3)
      #expect(try await browser.get(answers).location == "/")
    }
  }

  @Test func `a kept form expires, and needs the page's token and an address of the console`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = try await browsers(world, 1).browsers[0]
      let page = try await browser.get("/audit/retention")
      let address = try #require(page.value(of: "form-address"))
      #expect(address == "/audit/retention")
      let csrf = try page.csrf
      let answers = Drafts.address(Drafts.mark(of: address))
      for (address, token) in [
        (address, "x"), ("/nowhere", csrf), ("//evil.example/audit/retention", csrf),
        ("/sign-in", csrf), ("/audit", csrf), ("", csrf),
      ] {
        let refused = try await browser.post(
          Self.passkeyForm,
          ["csrf": token, "form-address": address, "retention": "730"])
        #expect(refused.status == (token == csrf ? .badRequest : .forbidden), "\(address)")
      }
      let foreign = try await browser.send(
        .post, Self.passkeyForm,
        form: ["csrf": csrf, "form-address": address, "retention": "730"],
        fields: [.origin: "https://evil.example", .secFetchSite: "cross-site"])
      #expect(foreign.status == .forbidden)
      #expect(try await browser.get("/sign-in/answers").location == "/")
      let leaving = try await browser.post(
        Self.passkeyForm, ["csrf": csrf, "form-address": address, "retention": "730"])
      #expect(leaving.location == ReturnAddress.of(Self.passkey, backTo: answers))
      #expect(try await browser.get(answers).says("<dt>retention</dt><dd><bdi>730</bdi></dd>"))
      world.clock.advance(seconds: 601)
      #expect(try await browser.get(answers).location == "/")
    }
  }

  @Test func `a passkey can be used instead of a code, after the form's own button`() async throws {
    try await World.withSampleData { world in
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      _ = try await PasskeyPageTests.addPasskey(ada)
      world.clock.advance(seconds: 1_200)
      let page = try await ada.get("/audit/retention")
      Markup.check(page)
      #expect(page.says("id=\"code\"") && page.values(of: "formaction") == [Self.passkeyForm])
      #expect(!page.values(of: "href").contains { $0.hasPrefix(Self.passkey) })
      // Enter uses a form's first button.
      let fields = try #require(page.text.firstRange(of: "action=\"/audit/retention\""))
      let first = try #require(page.text[fields.upperBound...].firstRange(of: "<button"))
      #expect(!page.text[first.upperBound...].prefix { $0 != ">" }.contains("formaction"))
      let form: Form = [
        "csrf": try page.csrf, "form-address": try #require(page.value(of: "form-address")),
        "retention": "730", "note": "Two years", "code": "123456",
      ]
      let answers = Drafts.address(Drafts.mark(of: "/audit/retention"))
      #expect(
        try await ada.post(Self.passkeyForm, form).location
          == ReturnAddress.of(Self.passkey, backTo: answers))
      let kept = try await ada.get(answers)
      #expect(kept.says("Two years") && !kept.says("form-address"))
      // A code that was entered before is no longer needed.
      #expect(!kept.says("<dt>code</dt>"))
      var coded = Form(form.entries.filter { $0.name != "code" })
      coded.add("code", try world.code(of: app))
      #expect(try await ada.post("/audit/retention", coded).location == "/audit")
      #expect(try await ada.get(answers).location == "/")
    }
  }

  @Test func `a form that's to be kept when the session has expired is kept over the sign-in`()
    async throws
  {
    try await World.withSampleData { world in
      let (browsers, authenticator) = try await browsers(world, 1)
      let browser = browsers[0]
      let page = try await browser.get("/audit/retention")
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      let late = try await browser.post(
        Self.passkeyForm,
        ["csrf": try page.csrf, "form-address": "/audit/retention", "retention": "730"])
      #expect(late.location?.hasSuffix("&kept=1") == true)
      let signIn = try await browser.get("/sign-in/passkey")
      let done = try await browser.post(
        "/sign-in/passkey",
        PasskeyPageTests.use(
          authenticator, signIn, as: try await world.id(of: World.ada), world))
      let kept = try await browser.get(try #require(done.location))
      let again = try await browser.post(
        try #require(kept.values(of: "action").first { $0 == Self.passkeyForm }),
        [
          "csrf": try kept.csrf, "form-address": try #require(kept.value(of: "form-address")),
          "retention": try #require(kept.value(of: "retention")),
        ])
      let answers = Drafts.address(Drafts.mark(of: "/audit/retention"))
      #expect(again.location == ReturnAddress.of(Self.passkey, backTo: answers))
    }
  }

  @Test func `a form is kept while the administrator signs in at the provider again`()
    async throws
  {
    try await World.withSampleData { world in
      _ = try await SignInProviderPageTests.setUp(world)
      let nora = Browser(world)
      _ = try await SignInProviderPageTests.signIn(nora)
      world.clock.advance(seconds: 1_200)
      let page = try await nora.get("/audit/retention")
      Markup.check(page)
      let path = "/account/reauthentication/provider"
      #expect(page.values(of: "formaction") == [path + "/form"])
      // The sign-in opened no page with a form before the session, and so no form cookie.
      let leaving = try await nora.post(
        path + "/form",
        [
          "csrf": try page.csrf, "form-address": try #require(page.value(of: "form-address")),
          "retention": "730",
        ])
      let answers = Drafts.address(Drafts.mark(of: "/audit/retention"))
      #expect(leaving.location == ReturnAddress.of(path, backTo: answers))
      let asked = try await nora.get(try #require(leaving.location))
      let confirming = try await nora.post(
        path,
        ["csrf": try asked.csrf, "next": try #require(asked.value(of: "next"))])
      let next = try #require(confirming.response.fields["Refresh"])
      let confirmed = try await SignInProviderPageTests.come(
        nora, String(next.dropFirst("0; url=".count)))
      #expect(confirmed.location == answers)
      #expect(try await nora.get(answers).says("<dt>retention</dt><dd><bdi>730</bdi></dd>"))
    }
  }
}
