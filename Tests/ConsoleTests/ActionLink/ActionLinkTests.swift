import Crypto
import Database
import HTTP
import Identity
import Testing

@testable import Console

/// The page that email action links lead to.
@Suite struct ActionLinkTests {
  private static let chiara = "chiara.bianchi@example.com"
  private static let page = "/__/auth/action"

  /// The path and query of an emailed link, and its code.
  private func link(
    _ world: World, _ kind: OutOfBandCode.Kind, _ email: String = chiara, newEmail: String? = nil,
    continueURL: String? = nil
  ) async throws -> (address: String, code: String) {
    var request = OutOfBandRequest(kind, for: .email(email))
    request.newEmail = newEmail
    request.continueURL = continueURL
    let created = try await world.identity.outOfBandCodes.link(
      request, in: try await world.euScope, by: Author(actor: .commandLine))
    return (created.link, created.code)
  }

  private func chiara(_ world: World) async throws -> Account {
    let found = try await world.identity.accounts.lookup(
      try await world.euScope, ids: ["kT9w2mQxZ0PbV7yL3c8R"])
    return try #require(found.first)
  }

  @Test
  func `opening a link changes nothing, and its button performs the action once`() async throws {
    try await World.withSampleData { world in
      let account = try await chiara(world)
      var change = AccountChange()
      change.emailVerified = false
      _ = try await world.identity.accounts.update(
        try await world.euScope, account.id, change, by: Author(actor: .commandLine))
      let link = try await link(
        world, .verifyEmail, continueURL: "http://localhost:3000/welcome?a=b")
      let browser = Browser(world)
      for _ in 0..<3 {
        let page = try await browser.get(link.address)
        #expect(page.status == .ok && page.says("<bdi>\(Self.chiara)</bdi>"))
        #expect(!page.says("localhost:3000"))
      }
      #expect(try await chiara(world).emailVerified == false)
      let sent = try await browser.submit(link.address, ["code": link.code], to: Self.page)
      #expect(sent.status == .seeOther)
      #expect(try await chiara(world).emailVerified == true)
      let done = try await browser.get(try #require(sent.location))
      #expect(done.status == .ok && done.says("Email address verified"))
      #expect(done.values(of: "href").contains("http://localhost:3000/welcome?a=b"))
      let again = try await browser.get(link.address)
      #expect(again.status == .gone && again.says("This link was already used"))
      #expect(!again.says(Self.chiara))
    }
  }

  @Test func `the new password page is shown until the password is valid`() async throws {
    try await World.withSampleData { world in
      let link = try await link(world, .passwordReset)
      let browser = Browser(world)
      for (password, words) in [
        ("", "Enter a new password."), ("short", "at least six characters"),
      ] {
        let page = try await browser.submit(
          link.address, ["code": link.code, "password": password], to: Self.page)
        #expect(page.status == .unprocessableContent && page.says(words))
        #expect(page.says("aria-invalid=\"true\"") && page.value(of: "code") == link.code)
      }
      let sent = try await browser.submit(
        link.address, ["code": link.code, "password": "battery staple"], to: Self.page)
      #expect(sent.status == .seeOther)
      #expect(try await browser.get(try #require(sent.location)).says("Password changed"))
      let outcome = try await world.identity.signIns.password(
        try await world.euScope, email: Self.chiara, password: Secret("battery staple"),
        address: "a")
      guard case .secondFactorDue = outcome else { throw Missing("second factor") }
      let late = try await browser.submit(
        "/sign-in", ["code": link.code, "password": "another one"], to: Self.page)
      #expect(late.status == .gone)
    }
  }

  @Test func `an email address is changed by the button`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let change = try await link(world, .changeEmail, newEmail: "new@example.com")
      #expect(try await browser.get(change.address).says("<bdi>new@example.com</bdi>"))
      let sent = try await browser.submit(change.address, ["code": change.code], to: Self.page)
      #expect(
        try await browser.get(try #require(sent.location)).says("Email address changed"))
      #expect(try await chiara(world).email == "new@example.com")
    }
  }

  @Test func `a sign-in link redirects to the application immediately`() async throws {
    try await World.withSampleData { world in
      let tenant = try await world.euShop
      _ = try await world.identity.pools.update(
        project: ID("acme-retail"), tenant: tenant, by: Author(actor: .commandLine)
      ) { $0.signIn.emailLink = true }
      let browser = Browser(world)
      let link = try await link(world, .signIn, continueURL: "http://localhost:3000/finish#x")
      let redirect = try await browser.get(
        link.address.replacing("localhost%3A3000", with: "evil.example"))
      #expect(redirect.status == .seeOther)
      let location = redirect.location ?? ""
      #expect(location.hasPrefix("http://localhost:3000/finish?mode=signIn&lang=en&oobCode="))
      #expect(location.contains("&tenantId=\(tenant.text)") && location.hasSuffix("#x"))
      let bare = try await self.link(world, .signIn)
      let page = try await browser.get(bare.address)
      #expect(page.status == .ok && page.says("Open this link in the application"))
    }
  }

  @Test func `expired links, invalid links, and links of disabled users get an error page`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let late = try await link(world, .passwordReset)
      world.clock.advance(seconds: 3_600)
      let page = try await browser.get(late.address)
      #expect(page.status == .gone && page.says("This link has expired"))
      for query in ["", "?oobCode=", "?oobCode=x&mode=verifyEmail", "?done=1", "?oobCode=%00"] {
        guard Target(Self.page + query) != nil else { continue }
        let page = try await browser.get(Self.page + query)
        #expect(
          page.status == .notFound && page.says("This link is invalid or expired"), "\(query)")
      }
      let disabled = try await link(world, .verifyEmail)
      var change = AccountChange()
      change.disabled = true
      _ = try await world.identity.accounts.update(
        try await world.euScope, ID("kT9w2mQxZ0PbV7yL3c8R"), change,
        by: Author(actor: .commandLine))
      #expect(try await browser.get(disabled.address).says("This account is disabled"))
    }
  }

  @Test func `a cross-site form is rejected`() async throws {
    try await World.withSampleData { world in
      let link = try await link(world, .passwordReset)
      let browser = Browser(world)
      let csrf = try await browser.get(link.address).csrf
      let form: Form = ["csrf": csrf, "code": link.code, "password": "battery staple"]
      for fields: Fields in [
        [.origin: "https://evil.example", .secFetchSite: "cross-site"], [:],
      ] {
        let answer = try await browser.send(.post, Self.page, form: form, fields: fields)
        #expect(answer.status == .forbidden)
      }
      let stale = try await browser.post(Self.page, ["code": link.code, "password": "battery"])
      #expect(stale.status == .forbidden)
      #expect(try await browser.get(link.address).status == .ok)
    }
  }

  @Test func `hostile names are escaped`() async throws {
    try await World.withSampleData { world in
      let name = "\u{202E}<script>alert(1)</script>" + String(repeating: "🦄", count: 1_000)
      try await world.database.write { connection in
        _ = try connection.run(
          "UPDATE project SET display_name = \(name) WHERE project_id = 'acme-retail'")
      }
      let link = try await link(
        world, .changeEmail, newEmail: "\"><script>@\(String(repeating: "a", count: 300)).example")
      let browser = Browser(world)
      let page = try await browser.get(link.address + "&lang=<script>")
      #expect(page.status == .ok && !page.text.contains("<script>a"))
      #expect(page.text.contains("&lt;script&gt;"))
      #expect(page.text.utf8.count < 8_000)
      for code in ["<script>alert(1)</script>", String(repeating: "🦄", count: 4_000), "\u{202E}"] {
        let answer = try await browser.submit("/sign-in", ["code": code], to: Self.page)
        #expect(answer.status == .notFound && !answer.text.contains("<script>a"))
      }
    }
  }

  @Test func `the pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let reset = try await link(world, .passwordReset, continueURL: "http://localhost/")
      let page = try await browser.get(reset.address)
      let token = try page.csrf
      func settled(_ answer: Answer) -> String {
        answer.text.replacing(token, with: "00000000000000000000000000000000")
          .replacing(reset.code, with: "CODE")
      }
      try Snapshot.check(settled(page), named: "action-link-password.html")
      try Snapshot.checkFrame(of: settled(page), named: "frame-action-link.html")
      let wrong = try await browser.submit(
        reset.address, ["code": reset.code, "password": "x"], to: Self.page)
      try Snapshot.check(settled(wrong), named: "action-link-wrong.html")
      let sent = try await browser.submit(
        reset.address, ["code": reset.code, "password": "battery staple"], to: Self.page)
      try Snapshot.check(
        settled(try await browser.get(try #require(sent.location))),
        named: "action-link-done.html")
      try Snapshot.check(
        settled(try await browser.get(Self.page)), named: "action-link-void.html")
    }
  }
}
