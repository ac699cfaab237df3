import Database
import HTTP
import OTP
import Testing

@testable import Console
@testable import Identity

@Suite struct TemporaryCodePageTests {
  private func page(_ world: World, _ rest: String = "") async throws -> String {
    try await world.eu + "/users/\(World.chiara)/temporary-code" + rest
  }

  /// The code that a page shows.
  private func code(_ answer: Answer) throws -> String {
    let start = try #require(answer.text.firstRange(of: "aria-label=\"code\">"))
    return String(answer.text[start.upperBound...].prefix { $0 != "<" })
  }

  @Test func `a temporary code is generated with one field and shown once`() async throws {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      let address = try await page(world)
      #expect(user.values(of: "href").contains(address))
      let generated = try await nadia.submit(try await page(world), ["reason": "lost"])
      let next = try await page(world, "/shown")
      #expect(generated.status == .seeOther && generated.location == next)
      let shown = try await nadia.get(try await page(world, "/shown"))
      #expect(shown.status == .ok && shown.response.fields[.cacheControl] == "no-store")
      let code = try code(shown)
      #expect(code.utf8.count == 9)
      for letter in code where letter != "-" {
        let word = SpellingAlphabet.word(letter).english
        #expect(shown.says("<dt>\(word)</dt><dd class=\"mono\">\(letter)</dd>"))
      }
      #expect(shown.says(">I’ve handed it over<"))
      let again = try await nadia.get(try await page(world, "/shown"))
      #expect(!again.says(code) && again.says("can’t be shown again"))
      let now = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(now.says("single use, expires") && !now.says(code))
      let chiara = try await world.user()
      let state = try await world.identity.backupCodes.state(
        of: chiara, in: try await world.euPool)
      #expect(state.temporaryUntil != nil && !state.temporaryIsOff)
    }
  }

  @Test func `a code is shown only to its creator, and a HEAD request doesn't consume it`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      _ = try await nadia.submit(try await page(world), ["reason": "lost"])
      #expect(try await ada.get(try await page(world, "/shown")).says("can’t be shown again"))
      _ = try await nadia.send(.head, try await page(world, "/shown"))
      #expect(try await nadia.get(try await page(world, "/shown")).says(">I’ve handed it over<"))
      world.clock.advance(seconds: 60)
      _ = try await nadia.submit(try await page(world), ["reason": "lost", "hours": "24"])
      world.clock.advance(seconds: 121)
      #expect(try await nadia.get(try await page(world, "/shown")).says("can’t be shown again"))
    }
  }

  @Test func `a missing reason is shown next to its field, and the lifetime stays selected`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let wrong = try await nadia.submit(try await page(world), ["hours": "8"])
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("<option value=\"8\" selected>8 hours</option>"))
      #expect(wrong.says("Choose a reason."))
      let invalid = try await nadia.submit(
        try await page(world), ["hours": "<script>", "note": "x"])
      #expect(
        invalid.says("<option value=\"1\" selected>1 hour</option>") && !invalid.says("<script>\""))
    }
  }

  /// Records a number of incorrect codes of the user.
  private func recordIncorrectCodes(_ times: Int, in world: World) async throws {
    let pool = try await world.euPool
    let now = world.clock.now
    try await world.database.write { connection in
      for _ in 0..<times {
        let account = try #require(try AccountRecord.find(pool, ID(World.chiara), connection))
        let attempt = CodeAttemptRecorder(
          account: account, pool: pool, way: .app, enrollment: account.factors.first?.id,
          window: .standard, origin: RequestOrigin())
        _ = try attempt.fail(CodeFinding(.wrong), at: now, connection)
      }
    }
  }

  @Test(arguments: [6, 10])
  func `pages warn that codes are blocked, with a link to unlock them`(
    wrong: Int
  ) async throws {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let waits =
        wrong < 10
        ? "Temporary and recovery codes don’t work either unless"
        : "Temporary and recovery codes don’t work either until"
      #expect(!(try await nadia.get(try await page(world))).says(waits))
      try await recordIncorrectCodes(wrong, in: world)
      // The user's page doesn't warn before there is a code.
      #expect(!(try await nadia.get(user)).says(waits))
      let asked = try await nadia.get(try await page(world))
      #expect(asked.says(waits) && asked.values(of: "href").contains(user + "/unlock"))
      #expect(asked.says("after \(wrong) incorrect codes in a row"))
      Markup.check(asked)
      _ = try await nadia.submit(try await page(world), ["reason": "lost"])
      let shown = try await nadia.get(try await page(world, "/shown"))
      #expect(shown.says(waits) && shown.values(of: "href").contains(user + "/unlock"))
      Markup.check(shown)
      let after = try await nadia.get(user)
      #expect(after.says(waits) && after.says("single use, expires"))
      // Auditors see the warning without a link to unlock.
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(user)
      #expect(read.says(waits) && !read.values(of: "href").contains(user + "/unlock"))
      for page in [asked, shown, after, read] { #expect(!page.says("9999") && !page.says("29227")) }
      let factor = try #require(try await world.user().factors.first).id.text
      let suspension = try await nadia.get(user + "/factors/\(factor)/suspension")
      #expect(suspension.says(waits))
      _ = try await nadia.submit(user + "/unlock", ["reason": "locked"])
      for address in [user, try await page(world)] {
        #expect(!(try await nadia.get(address)).says(waits))
      }
    }
  }

  @Test func `the user's page says that codes that are off in the pool aren't accepted`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let off = "not accepted: off in support rules"
      try await world.makeRecoveryCodes()
      let usable = try await nadia.get(user)
      #expect(usable.says("<dt>Recovery codes</dt>") && !usable.says(off))
      #expect(usable.says("No sign-in problem"))
      try await world.allowBackupCodes(temporary: true, recovery: false)
      _ = try await nadia.submit(try await page(world), ["reason": "lost"])
      let without = try await nadia.get(user)
      #expect(without.text.ranges(of: off).count == 1)
      #expect(!without.says("No sign-in problem"))
      #expect(without.says("Recovery codes are off in the support rules"))
      try await world.allowBackupCodes(temporary: false, recovery: false)
      let none = try await nadia.get(user)
      #expect(none.text.ranges(of: off).count == 2)
      #expect(none.says("Temporary and recovery codes are off in the support rules"))
      // They can still be revoked.
      #expect(none.values(of: "href").contains(user + "/recovery-codes/removal"))
      Markup.check(none)
    }
  }

  @Test func `no form is shown if a code can't be generated`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let off = try await nadia.get(try await page(world))
      #expect(off.says("This feature is off") && !off.says("name=\"reason\""))
      let user = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(!user.says("temporary-code"))
      try await world.allowBackupCodes()
      let without = try await nadia.get(
        try await world.eu + "/users/u77TnC0aPzQ4hW1sGv9M/temporary-code")
      #expect(without.says("doesn’t have an authenticator app") && !without.says("name=\"reason\""))
      let missing = try await nadia.get(try await world.eu + "/users/nobody/temporary-code")
      #expect(missing.status == .notFound)
    }
  }

  @Test func `codes are revoked on a separate page`() async throws {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let removal = try await page(world, "/removal")
      #expect(try await nadia.get(removal).says("These codes no longer exist"))
      _ = try await nadia.submit(try await page(world), ["reason": "lost"])
      let asked = try await nadia.get(removal)
      #expect(asked.says("Revoke code") && asked.says("name=\"reason\""))
      let sent = try await nadia.submit(removal, ["reason": "other", "note": "wrong person"])
      #expect(sent.status == .seeOther)
      let after = try await nadia.get(try #require(sent.location))
      #expect(after.says("Temporary code revoked."))
      #expect(!after.says("<dt>Temporary code</dt>"))
      let recovery = try await world.eu + "/users/\(World.chiara)/recovery-codes/removal"
      #expect(try await nadia.get(recovery).says("These codes no longer exist"))
    }
  }

  @Test func `each character has a unique spelling word`() {
    #expect(
      SpellingAlphabet.word("K").english == "Kilo" && SpellingAlphabet.word("7").english == "seven")
    let words = "ABCDEFGHJKMNPQRSTUVWXYZ23456789".map { SpellingAlphabet.word($0).english }
    #expect(Set(words).count == 31 && !words.contains(""))
  }

  @Test func `the pages match their snapshots`() async throws {
    try await World.withSampleData { world in
      try await world.allowBackupCodes()
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      try Snapshot.check(
        try await nadia.get(try await page(world)).text, named: "temporary-code.html")
      _ = try await nadia.submit(try await page(world), ["reason": "lost"])
      let shown = try await nadia.get(try await page(world, "/shown"))
      Markup.check(shown)
      try Snapshot.check(shown.text, named: "temporary-code-shown.html")
      try Snapshot.check(
        try await nadia.get(try await page(world, "/shown")).text,
        named: "temporary-code-gone.html")
      try Snapshot.check(
        try await nadia.get(try await page(world, "/removal")).text,
        named: "temporary-code-removal.html")
      try Snapshot.check(
        try await nadia.get(try await world.eu + "/users/\(World.chiara)").text,
        named: "user-with-code.html")
    }
  }
}
