import Crypto
import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// The page of a campaign's link, from the first factor to the app.
@Suite struct CampaignLinkPageTests {
  private static let page = EnrollmentLinkPageTests.page
  private static let email = "lena@example.com"
  private static let password = "Lena's good password"

  /// Starts a campaign for one user, and returns the path and query of the link.
  private func send(_ world: World, password: String? = Self.password) async throws -> String {
    var lena = NewAccount()
    (lena.email, lena.emailVerified) = (Self.email, true)
    lena.password = password.map { Secret($0) }
    let pool = try await world.euPool
    _ = try await world.identity.accounts.create(
      pool, lena, by: .program(Author(actor: .commandLine)))
    let (agent, author) = try await world.inSupport(World.nadia)
    let bulk = world.identity.bulkRemovals
    let id = try await bulk.draft(
      campaignFor: AccountListing(text: "lena"), in: pool, by: author, agent)
    _ = try await bulk.begin(
      id, in: pool, number: "", terms: CampaignTerms(days: 7, reminds: false, sentence: ""),
      ActionRequest(agent: agent, author: author, reason: .other, note: "Rollout"))
    while try await bulk.step() {}
    return try await world.link(to: Self.page)
  }

  private func answer(
    _ page: Answer, _ step: String, _ fields: [String: String], by browser: Browser
  ) async throws -> Answer {
    var form: Form = [
      "csrf": try page.csrf, "link": try #require(page.value(of: "link")), "step": step,
    ]
    for (name, value) in fields { form.add(name, value) }
    return try await browser.post(Self.page, form)
  }

  @Test func `the QR code is shown after the password, and finishing ends sessions`() async throws {
    try await World.withSampleData { world in
      let link = try await send(world)
      let browser = Browser(world)
      for _ in 0..<2 {
        let page = try await browser.get(link)
        Markup.check(page)
        #expect(page.status == .ok && page.says("current-password") && page.says(Self.email))
        #expect(!page.says("otpauth") && !page.says("<svg"))
        #expect(page.response.fields.all(.setCookie).allSatisfy { !$0.contains("-enrollment=") })
      }
      let first = try await browser.get(link)
      let wrong = try await answer(first, "password", ["password": "x"], by: browser)
      Markup.check(wrong)
      #expect(wrong.status == .unprocessableContent && wrong.says("Incorrect password."))
      #expect(wrong.says("There’s a problem") && wrong.says("aria-invalid=\"true\""))
      #expect(!wrong.says("otpauth"))
      let proven = try await answer(
        wrong, "password", ["password": Self.password], by: browser)
      #expect(proven.status == .seeOther)
      let open = try await browser.get(try #require(proven.location))
      Markup.check(open)
      #expect(open.says("otpauth://totp/") && !open.says("name=\"end-sessions\""))
      #expect(open.says("signed out everywhere"))
      #expect(try await !Browser(world).get(link).says("otpauth"))
      let links = EnrollmentLinkPageTests()
      let done = try await browser.post(
        Self.page, try links.form(open, code: try links.code(open, world)))
      let after = try await browser.get(try #require(done.location))
      #expect(after.says("Your authenticator app is set up"))
    }
  }

  @Test func `a user without a password gets a code by email on Continue`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      let link = try await send(world, password: nil)
      let browser = Browser(world)
      let page = try await browser.get(link)
      Markup.check(page)
      #expect(page.says("A code is sent to your email address first."))
      #expect(!page.says("name=\"code\"") && !page.says("name=\"password\""))
      let sent = try await answer(page, "send-code", [:], by: browser)
      #expect(sent.status == .seeOther)
      let asking = try await browser.get(try #require(sent.location))
      Markup.check(asking)
      #expect(asking.says("one-time-code") && asking.says("Send a new code"))
      let code = try await CallerCodePageTests.code(world)
      let malformed = try await answer(asking, "code", ["code": "12"], by: browser)
      #expect(malformed.status == .unprocessableContent && malformed.says("eight digits"))
      let wrong = code.hasPrefix("0") ? "1000 0000" : "0000 0000"
      let refused = try await answer(asking, "code", ["code": wrong], by: browser)
      #expect(refused.status == .unprocessableContent && refused.says("Incorrect or expired code."))
      let proven = try await answer(asking, "code", ["code": code], by: browser)
      #expect(try await browser.get(try #require(proven.location)).says("otpauth://totp/"))
    }
  }

  @Test func `an expired link is replaced by a new one, which is valid for 30 minutes`()
    async throws
  {
    try await World.withSampleData { world in
      let link = try await send(world)
      world.clock.advance(seconds: 7 * 86_400)
      let browser = Browser(world)
      let late = try await browser.get(link)
      Markup.check(late)
      #expect(late.status == .gone && late.says("Send me a new link"))
      #expect(!late.says("30 minutes"))
      let renewed = try await answer(late, "renew", [:], by: browser)
      let sent = try await browser.get(try #require(renewed.location))
      #expect(sent.says("A new link is on its way to your email address."))
      let new = try await world.link(to: Self.page)
      #expect(new != link)
      #expect(try await browser.get(new).says("current-password"))
      world.clock.advance(seconds: 1_800)
      let again = try await answer(try await browser.get(new), "renew", [:], by: browser)
      #expect(again.says("less than an hour ago"))
    }
  }
}
