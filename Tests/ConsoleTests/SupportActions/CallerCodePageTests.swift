import HTTP
import Identity
import Testing

@testable import Console

/// The part of action forms that verifies a caller, and the alerts about unusual activity.
@Suite struct CallerCodePageTests {
  private let masked = "c…@example.com"

  /// Returns the user's page and the form that ends the sessions.
  private func addresses(_ world: World) async throws -> (user: String, form: String) {
    let user = try await world.eu + "/users/\(World.chiara)"
    return (user, user + "/sessions/end")
  }

  /// Sends a code as the form's button does.
  private func send(
    _ browser: Browser, _ user: String, returningTo address: String
  ) async throws -> Answer {
    try await browser.submit(user, ["return": address], to: user + "/caller-code")
  }

  /// Returns the code in the email to the user.
  static func code(_ world: World) async throws -> String {
    while let mail = try await world.identity.deliveries.claim() {
      let line = mail.body.split(separator: "\n").first { line in
        line.count == 9 && line.allSatisfy { $0.isNumber || $0 == " " }
      }
      if let line { return String(line) }
    }
    throw Missing("a code")
  }

  /// Another code of eight digits.
  private static func wrong(_ code: String) -> String {
    code.hasPrefix("0") ? "1000 0000" : "0000 0000"
  }

  @Test func `forms verify the caller only where the pool offers it`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (_, form) = try await addresses(world)
      let off = try await nadia.get(form)
      try await world.setSupportRules { $0.callerVerification = .offered }
      let offered = try await nadia.get(form)
      Markup.check(offered)
      #expect(!off.says("Verify the caller"))
      #expect(offered.says("Verify the caller") && offered.says(masked))
      #expect(!offered.says("id=\"caller-code\""))
    }
  }

  @Test func `the code leads back to the form, and the history shows the verified caller`()
    async throws
  {
    try await World.withSampleData(carriesMail: true) { world in
      try await world.setSupportRules { $0.callerVerification = .required }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, form) = try await addresses(world)
      let sent = try await send(nadia, user, returningTo: form)
      let page = try await nadia.get(form)
      Markup.check(page)
      #expect(sent.location == form && page.says(masked) && page.says("id=\"caller-code\""))
      let code = try await Self.code(world)
      let malformed = try await nadia.submit(form, ["reason": "lost", "caller-code": "12"])
      Markup.check(malformed)
      #expect(malformed.status == .unprocessableContent)
      #expect(malformed.says("Enter the eight digits that the caller reads to you."))
      let wrong = try await nadia.submit(
        form, ["reason": "lost", "caller-code": Self.wrong(code)])
      Markup.check(wrong)
      #expect(wrong.status == .unprocessableContent && wrong.says("You have 4 tries left"))
      let done = try await nadia.submit(form, ["reason": "lost", "caller-code": code])
      let ada = try await Browser.signedIn(world)
      let log = try await ada.get(try await world.eu + "/audit")
      #expect(done.location == user)
      #expect(log.says("code sent to the verified email address"))
    }
  }

  @Test func `sending a code keeps what was typed in the form, without codes`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await world.setSupportRules { $0.callerVerification = .offered }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, form) = try await addresses(world)
      let shown = try await nadia.get(form)
      #expect(shown.values(of: "formaction") == [user + "/caller-code"])
      let typed: Form = [
        "return": form, "reason": "stolen", "note": "Bag & phone", "ticket": "HD-9",
        "caller-code": "73194682", "code": "987654",
      ]
      _ = try await nadia.submit(form, typed, to: user + "/caller-code")
      let page = try await nadia.get(form)
      Markup.check(page)
      #expect(page.says("Bag &amp; phone") && page.says("value=\"HD-9\""))
      #expect(page.says("value=\"stolen\" selected"))
      #expect(!page.says("73194682") && !page.says("987654"))
      let again = try await nadia.get(form)
      #expect(!again.says("HD-9"))
    }
  }

  @Test func `wrong codes of a caller are in the history`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await world.setSupportRules { $0.callerVerification = .offered }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, form) = try await addresses(world)
      _ = try await send(nadia, user, returningTo: form)
      let wrong = Self.wrong(try await Self.code(world))
      _ = try await nadia.submit(form, ["reason": "lost", "caller-code": wrong])
      let ada = try await Browser.signedIn(world)
      let log = try await ada.get(try await world.eu + "/audit")
      #expect(log.says("Incorrect code from a caller"))
    }
  }

  @Test(arguments: ["https://evil.example/", "//evil.example", "/", "/users", ""])
  func `after a code is sent, only forms of the user are returned to`(address: String)
    async throws
  {
    try await World.withSampleData { world in
      try await world.setSupportRules { $0.callerVerification = .offered }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, _) = try await addresses(world)
      let sent = try await send(nadia, user, returningTo: address)
      #expect(sent.location == user)
    }
  }

  @Test func `alerts are on the overview and on home, with a link to the evidence`() async throws {
    try await World.withSampleData { world in
      try await world.raiseAlerts()
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let links = [eu + "/activity?result=incorrect", "/clock", eu + "/audit?action=removal"]
      for page in [eu, "/projects"] {
        let shown = try await ada.get(page)
        Markup.check(shown)
        #expect(shown.says("incorrect codes for 20 users within 10 minutes"))
        #expect(Set(shown.values(of: "href")).isSuperset(of: links))
      }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let shown = try await nadia.get(eu)
      // Codes outside the window show the drift as well.
      #expect(shown.says("href=\"\(eu)/activity\">View sign-in activity"))
    }
  }
}
