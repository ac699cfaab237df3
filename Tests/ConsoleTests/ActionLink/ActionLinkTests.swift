import Crypto
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
      request, in: try await world.euPool, by: Author(actor: .commandLine))
    return (created.link, created.code)
  }

  private func update(_ world: World, _ id: String, _ change: AccountChange) async throws {
    try await world.identity.accounts.update(
      try await world.euPool, ID(id), change, by: Author(actor: .commandLine))
  }

  /// The path and query of the last email's link that removes a new second factor.
  private func revertLink(_ world: World) async throws -> String {
    var link: Substring?
    while let mail = try await world.identity.deliveries.claim() {
      let line = mail.body.split(separator: "\n").first {
        $0.contains("mode=revertSecondFactorAddition")
      }
      link = line ?? link
    }
    let found = try #require(link)
    let start = try #require(found.firstRange(of: Self.page)).lowerBound
    return String(found[start...])
  }

  private func chiara(_ world: World) async throws -> Account {
    let found = try await world.identity.accounts.lookup(
      try await world.euPool, ids: ["kT9w2mQxZ0PbV7yL3c8R"])
    return try #require(found.first)
  }

  @Test
  func `opening a link changes nothing, and its button performs the action once`() async throws {
    try await World.withSampleData { world in
      let account = try await chiara(world)
      var change = AccountChange()
      change.emailVerified = false
      _ = try await world.identity.accounts.update(
        try await world.euPool, account.id, change, by: Author(actor: .commandLine))
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
        try await world.euPool, email: Self.chiara, password: Secret("battery staple"),
        address: "a")
      guard case .secondFactorDue = outcome else { throw Missing("second factor") }
      let late = try await browser.submit(
        "/sign-in", ["code": link.code, "password": "another one"], to: Self.page)
      #expect(late.status == .gone)
    }
  }

  /// Changes a setting of the pool.
  private func change(
    _ world: World, _ body: @escaping @Sendable (inout PoolEdit) -> Void
  ) async throws {
    _ = try await world.identity.pools.update(
      project: ID("acme-retail"), tenant: try await world.euShop,
      by: .program(Author(actor: .commandLine))
    ) { body(&$0) }
  }

  @Test func `the page for a new password states the requirements of the pool's policy`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let link = try await link(world, .passwordReset)
      try await change(world) { $0.passwords = nil }
      let usual = try await browser.get(link.address)
      #expect(usual.says("Passwords must have: at least 6 characters."))
      try await change(world) {
        $0.passwords = PasswordPolicy(isEnforced: true, shortest: 12, classes: [.digit])
      }
      let strict = try await browser.get(link.address)
      Markup.check(strict)
      #expect(strict.says("Passwords must have: at least 12 characters, a numeric character."))
      let verify = try await browser.get(try await self.link(world, .verifyEmail).address)
      #expect(!verify.says("Passwords must have"))
    }
  }

  @Test func `no password can be chosen while sign-in with passwords is turned off`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let link = try await link(world, .passwordReset)
      let csrf = try await browser.get(link.address).csrf
      try await change(world) { $0.signIn.password = false }
      let form: Form = ["csrf": csrf, "code": link.code, "password": "battery staple"]
      for page in [
        try await browser.get(link.address), try await browser.post(Self.page, form),
      ] {
        #expect(page.status == .forbidden && !page.says("name=\"password\""))
        #expect(page.says("Sign-in with email and password is currently turned off"))
      }
      try await change(world) { $0.signIn.password = true }
      #expect(try await browser.get(link.address).says("name=\"password\""))
    }
  }

  /// Changes the email address with a link, and returns the code that restores the former one.
  private func changeEmail(
    _ world: World, _ old: String, to new: String
  ) async throws -> String {
    let change = try await link(world, .changeEmail, old, newEmail: new)
    try await world.identity.outOfBandCodes.apply(
      change.code, by: Author(actor: .visitor))
    var code: String?
    while let mail = try await world.identity.deliveries.claim() {
      if let found = mail.body.firstMatch(of: #/mode=recoverEmail\S*?oobCode=([^&\s]+)/#) {
        code = String(found.1)
      }
    }
    return try #require(code)
  }

  @Test func `a link that another one made useless doesn't say that its change was made`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let first = try await changeEmail(world, Self.chiara, to: "one@example.com")
      world.clock.advance(seconds: 60)
      let second = try await changeEmail(world, "one@example.com", to: "two@example.com")
      let address = Self.page + "?oobCode="
      _ = try await browser.submit(address + first, ["code": first], to: Self.page)
      #expect(try await chiara(world).email == Self.chiara)
      let used = try await browser.get(address + first)
      #expect(used.status == .gone && used.says("The change was made."))
      for query in ["", "&done=1"] {
        let replaced = try await browser.get(address + second + query)
        #expect(replaced.status == .gone && replaced.says("An earlier address was restored"))
        #expect(!replaced.says("The change was made.") && !replaced.says("@example.com"))
      }
    }
  }

  @Test func `a link to undo a change says what to do if there's nothing left to undo`()
    async throws
  {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let reset = try await link(world, .passwordReset).address
      var change = AccountChange()
      change.email = .set("new@example.com")
      try await update(world, World.chiara, change)
      let jo = "u77TnC0aPzQ4hW1sGv9M"
      let found = try await world.identity.accounts.lookup(try await world.euPool, ids: [jo])
      var verifying = AccountChange()
      verifying.emailVerified = true
      try await update(world, jo, verifying)
      try await world.enroll(try #require(found.first), "Pixel 10")
      let revert = try await revertLink(world)
      var clearing = AccountChange()
      clearing.factors = .clear
      try await update(world, jo, clearing)
      for (address, words, isRenewable) in [
        (revert, "The second factor was already removed", false),
        (reset, "A newer link was sent, or your account has changed since.", true),
      ] {
        let page = try await browser.get(address)
        #expect(page.status == .notFound && page.says(words), "\(address)")
        #expect(page.says("Request a new link") == isRenewable, "\(address)")
      }
    }
  }

  @Test func `a link that can't remove a suspended second factor says so`() async throws {
    try await World.withSampleData { world in
      let (pool, jo) = (try await world.euPool, ID<Account>("u77TnC0aPzQ4hW1sGv9M"))
      var verifying = AccountChange()
      verifying.emailVerified = true
      try await update(world, jo.text, verifying)
      func account() async throws -> Account {
        try #require(try await world.identity.accounts.lookup(pool, ids: [jo.text]).first)
      }
      try await world.enroll(try await account(), "Pixel 10")
      let revert = try await revertLink(world)
      let code = try #require(revert.firstMatch(of: #/oobCode=([^&\s]+)/#)).1
      let factor = try #require(try await account().factors.first)
      let (agent, author) = try await world.inSupport()
      _ = try await world.identity.support.suspend(
        pool, jo, factor.id, until: world.clock.now.advanced(bySeconds: 3_600),
        ActionRequest(agent: agent, author: author, reason: .lost))
      let refused = try await Browser(world).submit(
        revert, ["code": String(code)], to: Self.page)
      Markup.check(refused)
      #expect(refused.status == .forbidden && refused.says("Your second factor is suspended"))
      #expect(try await account().factors.map(\.id) == [factor.id])
    }
  }

  @Test func `after a restore, an unused link doesn't say that the change was made`() async throws {
    try await World.withSampleData { world in
      let browser = Browser(world)
      let change = try await link(world, .changeEmail, newEmail: "new@example.com")
      _ = try await world.identity.endTheRestoredPast(
        file: "f", keepsSessions: true, former: nil, by: Author(actor: .commandLine))
      let page = try await browser.get(change.address)
      Markup.check(page)
      #expect(page.status == .gone && page.says("This link has expired"))
      #expect(page.says("It’s no longer valid.") && !page.says("The change was made"))
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
        project: ID("acme-retail"), tenant: tenant, by: .program(Author(actor: .commandLine))
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
        try await world.euPool, ID("kT9w2mQxZ0PbV7yL3c8R"), change,
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
      let name = "\u{202E}<script>alert(1)</script>" + String(repeating: "🦄", count: 60)
      try await world.rename(ID("acme-retail"), to: name)
      let link = try await link(
        world, .changeEmail, newEmail: "o'hara&lt\(String(repeating: "a", count: 200))@example.com")
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
