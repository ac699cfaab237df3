import Crypto
import HTTP
import Identity
import TestAuthenticator
import Testing
import WebAuthn

@testable import Console

/// The pages that add and use passkeys, as the script submits them.
@Suite struct PasskeyPageTests {
  private static func party(_ world: World) throws -> RelyingParty {
    try #require(PublicURL(world.origin)?.relyingParty)
  }

  private static func challenge(_ page: Answer) throws -> [UInt8] {
    try #require(page.values(of: "data-challenge").first.flatMap { Base64URL.decode($0) })
  }

  /// The fields of a form that creates a passkey.
  static func creation(
    _ authenticator: TestAuthenticator, _ page: Answer, named name: String, _ world: World
  ) throws -> Form {
    let response = authenticator.register(try challenge(page), for: try party(world))
    return [
      "csrf": try page.csrf, "ticket": page.value(of: "ticket") ?? "", "name": name,
      "client-data": Base64URL.encode(response.clientData),
      "attestation": Base64URL.encode(response.attestation), "transports": "internal usb",
    ]
  }

  /// The fields of a form that uses a passkey.
  static func use(
    _ authenticator: TestAuthenticator, _ page: Answer, as id: String, _ world: World
  ) throws -> Form {
    let response = try authenticator.signIn(try challenge(page), for: try party(world))
    return [
      "csrf": try page.csrf, "ticket": page.value(of: "ticket") ?? "",
      "credential": Base64URL.encode(authenticator.id),
      "client-data": Base64URL.encode(response.clientData),
      "authenticator-data": Base64URL.encode(response.authenticatorData),
      "signature": Base64URL.encode(response.signature),
      "user-handle": Base64URL.encode(Array(id.utf8)),
    ]
  }

  /// Adds a passkey on the account page, and returns its authenticator.
  static func addPasskey(_ browser: Browser) async throws -> TestAuthenticator {
    let authenticator = try TestAuthenticator()
    let page = try await browser.get("/account/passkeys/new")
    let form = try creation(authenticator, page, named: "Laptop", browser.world)
    _ = try await browser.post("/account/passkeys/new", form)
    return authenticator
  }

  /// Uses a passkey, and requires passkeys of administrators who manage others.
  private static func requirePasskeys(
    _ browser: Browser, _ authenticator: TestAuthenticator, as email: String
  ) async throws {
    let path = "/account/reauthentication/passkey"
    let id = try await browser.world.id(of: email)
    let form = try use(authenticator, try await browser.get(path), as: id, browser.world)
    _ = try await browser.post(path, form)
    let required = try await browser.submit(
      "/administrators/passkeys", ["required": "yes", "note": "Phishing"])
    #expect(required.location == "/instance-settings")
  }

  @Test func `a passkey is added, used, renamed, and removed`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let id = try await world.id(of: World.iris)
      let page = try await iris.get("/account/passkeys/new")
      Markup.check(page)
      #expect(page.says("This page requires JavaScript.") && page.says("<noscript>"))
      let authenticator = try TestAuthenticator()
      var form = try Self.creation(authenticator, page, named: "Laptop", world)
      let added = try await iris.post("/account/passkeys/new", form)
      Markup.check(added)
      #expect(added.status == .ok && added.says("data-copy"))
      #expect(
        try await iris.post("/account/passkeys/new", form).status == .unprocessableContent)
      let account = try await iris.get("/account")
      Markup.check(account)
      #expect(account.says("Laptop") && account.says("Never"))

      let browser = Browser(world)
      let signIn = try await browser.get("/sign-in")
      #expect(signIn.values(of: "href").contains("/sign-in/passkey"))
      let alone = try await browser.get("/sign-in/passkey?next=/account")
      Markup.check(alone)
      #expect(try await browser.submit("/sign-in/passkey", [:]).status == .unprocessableContent)
      form = try Self.use(authenticator, alone, as: id, world)
      form.add("next", "/account")
      #expect(try await browser.post("/sign-in/passkey", form).location == "/account")
      let other = Browser(world)
      _ = try await other.get("/sign-in")
      let replayed = try await other.submit(
        "/sign-in/passkey", ["ticket": form.text("ticket") ?? ""])
      #expect(replayed.status == .unprocessableContent)

      let passkey = try #require(
        try await world.identity.passkeys.list(of: ID(id)).first
      ).id.text
      let own = "/account/passkeys/\(passkey)"
      Markup.check(try await browser.get(own))
      let unnamed = try await browser.submit(own, ["name": " "])
      #expect(unnamed.status == .unprocessableContent)
      #expect(try await browser.submit(own, ["name": "Key"]).location == "/account")
      #expect(try await browser.get("/account").says("Key"))
      Markup.check(try await browser.get(own + "/removal"))
      #expect(try await browser.submit(own + "/removal", [:]).location == "/account")
      #expect(try await browser.get(own).status == .notFound)
    }
  }

  @Test func `without the only passkey, a recovery code signs in`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let authenticator = try TestAuthenticator()
      let new = try await iris.get("/account/passkeys/new")
      let added = try await iris.post(
        "/account/passkeys/new", Self.creation(authenticator, new, named: "Laptop", world))
      let code = try #require(added.text.firstMatch(of: /([A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}/))
      let account = try await iris.get("/account")
      #expect(account.values(of: "href").contains("/account/recovery-codes"))
      // Without an app, a passkey is what confirms an identity.
      let generation = try await iris.get("/account/recovery-codes")
      #expect(generation.location?.hasPrefix("/account/reauthentication") == true)
      for isUsed in [false, true] {
        let browser = Browser(world)
        _ = try await browser.givePassword(World.iris)
        let passkey = try await browser.get("/sign-in/code/passkey")
        #expect(passkey.values(of: "href").contains("/sign-in/code?recovery=yes"))
        let page = try await browser.get("/sign-in/code?recovery=yes")
        Markup.check(page)
        #expect(page.says("name=\"recovery\"") && !page.says("name=\"code\""))
        let answer = try await browser.post(
          "/sign-in/code", ["csrf": try page.csrf, "recovery": String(code.output.0)])
        #expect(answer.status == (isUsed ? .unprocessableContent : .seeOther))
      }
    }
  }

  @Test func `after the password, only a passkey may be left, and re-authentication returns`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let id = try await world.id(of: World.ada)
      let authenticator = try TestAuthenticator()
      let page = try await ada.get("/account/passkeys/new")
      _ = try await ada.post(
        "/account/passkeys/new", Self.creation(authenticator, page, named: "Laptop", world))
      let browser = Browser(world)
      let password = try await browser.submit(
        "/sign-in", ["email": World.ada, "password": World.password])
      #expect(password.location == "/sign-in/code/passkey")
      #expect(try await browser.get("/sign-in/code").location == "/sign-in/code/passkey")
      let second = try await browser.get("/sign-in/code/passkey")
      Markup.check(second)
      #expect(
        try await browser.post(
          "/sign-in/code/passkey", Self.use(authenticator, second, as: id, world)
        ).location == "/")

      world.clock.advance(seconds: 1_200)
      let another = try await browser.get("/account/passkeys/new")
      #expect(another.location?.hasPrefix("/account/reauthentication/passkey?next=") == true)
      let form = try await browser.get("/audit/retention")
      Markup.check(form)
      let address = "/account/reauthentication/passkey?next=/audit/retention"
      #expect(form.text.contains("Use your passkey first") && !form.says("Change retention"))
      let byCode = try await browser.get("/account/reauthentication?next=/audit/retention")
      #expect(byCode.location?.hasPrefix("/account/reauthentication/passkey") == true)
      let asked = try await browser.get(address)
      Markup.check(asked)
      var answers = try Self.use(authenticator, asked, as: id, world)
      answers.add("next", "/audit/retention")
      #expect(
        try await browser.post("/account/reauthentication/passkey", answers).location
          == "/audit/retention")
      #expect(try await browser.get("/audit/retention").says("Change retention"))
    }
  }

  @Test func `a session that ended during a re-authentication leads to the sign-in`() {
    guard case .sessionEnded = Refusal(PasskeyError.sessionEnded) else {
      Issue.record("another refusal")
      return
    }
  }

  @Test func `the last second factor of a role that needs one stays, and the page says why`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let authenticator = try await Self.addPasskey(ada)
      try await world.reauthenticate()
      let id = try await world.id(of: World.ada)
      let passkey = try #require(try await world.identity.passkeys.list(of: ID(id)).first)
      let removal = "/account/passkeys/\(passkey.id.text)/removal"
      let refused = try await ada.submit(removal, [:])
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("You must have a second factor, and this is your only one."))
      try await Self.requirePasskeys(ada, authenticator, as: World.ada)
      #expect(
        try await ada.submit(removal, [:]).says(
          "Your role requires a passkey, and this is your only"))
    }
  }

  @Test func `C1: with the requirement, an owner without a passkey opens no other page`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let refused = try await ada.submit(
        "/administrators/passkeys", ["required": "yes", "note": "Phishing"])
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("Use your own passkey first"))
      Markup.check(refused)
      let olga = try await world.identity.administrators.create(
        email: "olga@example.com", displayName: "Olga", password: Secret(World.password),
        grant: Grant(role: .owner), by: Author(actor: .commandLine))
      let other = try await Browser.signedIn(world, as: olga.email)
      let authenticator = try await Self.addPasskey(other)
      try await Self.requirePasskeys(other, authenticator, as: olga.email)
      let new = "/account/passkeys/new"
      #expect(try await ada.get("/").location == new)
      #expect(try await ada.get("/account/reauthentication/passkey").location == "/account")
      for page in ["/administrators", "/account", "/audit/retention"] {
        #expect(
          try await ada.get(page).location == ReturnAddress.of(new, backTo: page), "\(page)")
      }
      #expect(try await ada.get(new).says("Your role requires a passkey"))
      #expect(try await ada.get("/sign-out").status == .ok)
      #expect(try await ada.get(new + "?next=//evil.example").value(of: "next") == nil)
      let adding = try await ada.get(ReturnAddress.of(new, backTo: "/audit/retention"))
      #expect(adding.value(of: "next") == "/audit/retention")
      var form = try Self.creation(try TestAuthenticator(2), adding, named: "Phone", world)
      form.add("next", "/audit/retention")
      let added = try await ada.post(new, form)
      let link = added.values(of: "href").first { $0 == "/audit/retention" }
      #expect((added.location ?? link) == "/audit/retention", "\(added.text)")
      // Other roles aren't affected.
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get("/projects").status == .ok)
    }
  }

  @Test func `without a hostname, the pages say what passkeys need`() async throws {
    try await World.withSampleData(publicURL: "http://192.0.2.1:8080") { world in
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get("/account/passkeys/new")
      Markup.check(page)
      #expect(page.says("Passkeys require HTTPS and a hostname"))
      let account = try await ada.get("/account")
      Markup.check(account)
      #expect(account.says("Passkeys require HTTPS and a hostname"))
      #expect(!account.values(of: "href").contains("/account/passkeys/new"))
      let requirement = try await ada.get("/administrators/passkeys")
      Markup.check(requirement)
      #expect(requirement.says("Passkeys require HTTPS and a hostname"))
      #expect(!requirement.says("name=\"required\""))
      #expect(requirement.says("add a passkey on <a href=\"/account\">your account page</a>"))
      #expect(requirement.says("Back to instance settings"))
      let browser = Browser(world)
      #expect(try await !browser.get("/sign-in").values(of: "href").contains("/sign-in/passkey"))
      #expect(try await browser.get("/sign-in/passkey").says("Passkeys require HTTPS"))
    }
  }
}
