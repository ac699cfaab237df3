import Database
import HTTP
import OTP
import Testing
import Text

@testable import Console
@testable import Identity

/// The pages that resynchronize a factor, and undo it.
@Suite struct ResynchronizationPageTests {
  private func allow(_ world: World) async throws {
    var settings = SupportRules()
    settings.resynchronization = true
    try await world.identity.support.change(
      try await world.euPool, to: settings, by: .program(Author(actor: .commandLine)))
  }

  /// The codes that Chiara's device shows one after the other while its clock is off.
  private func codes(_ world: World, off offset: Int64) async throws -> Form {
    let (account, pool) = (try await world.user(), try await world.euPool)
    let factor = try #require(account.factors.first { $0.kind == .totp }).id
    let stored = try await world.database.read { [totp = world.identity.totp] connection in
      try totp.stored(factor, of: account, in: pool, connection)
    }
    let app = try #require(stored.flatMap { TOTPFactor.password($0.secret) })
    let step = app.step(at: world.clock.now.seconds) + offset
    return [
      "first-code": try app.code(step: step - 1), "second-code": try app.code(step: step),
      "reason": "locked", "note": "HD-7 token",
    ]
  }

  @Test func `a factor is resynchronized with two codes, and the offset is shown and cleared`()
    async throws
  {
    try await World.withSampleData { world in
      try await allow(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = try await user + "/factors/\(world.factor(of: World.chiara).text)"
      let page = try await nadia.get(user)
      #expect(page.values(of: "href").contains(factor + "/resynchronization"))
      #expect(!page.values(of: "href").contains(factor + "/clock-offset"))
      let form = try await nadia.get(factor + "/resynchronization")
      Markup.check(form)
      #expect(form.says("Only for devices whose clock can’t be set"))
      let done = try await nadia.submit(
        factor + "/resynchronization", try await codes(world, off: -12))
      #expect(done.location == user)
      let after = try await nadia.get(user)
      Markup.check(after)
      #expect(after.says("Clock offset: 12 intervals slow"))
      #expect(after.says("remaining: on time"))
      #expect(after.values(of: "href").contains(factor + "/clock-offset"))
      let cleared = try await nadia.submit(factor + "/clock-offset", ["reason": "mistake"])
      #expect(cleared.location == user)
      #expect(try await nadia.get(user).says("Cleared the clock offset"))
      #expect(try await nadia.get(factor + "/clock-offset").says("No changes to make."))
    }
  }

  @Test func `codes that don't match lead back to the form, which keeps what was typed but them`()
    async throws
  {
    try await World.withSampleData { world in
      try await allow(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let address =
        try await user + "/factors/\(world.factor(of: World.chiara).text)/resynchronization"
      let wrong = try await codes(world, off: 100)
      let answer = try await nadia.submit(address, wrong)
      #expect(answer.status == .seeOther && answer.location == address)
      let again = try await nadia.get(address)
      Markup.check(again)
      #expect(again.says("These codes don’t follow each other."))
      #expect(again.says("HD-7 token") && again.says("<option value=\"locked\" selected>"))
      for name in ActionInput.deviceCodes {
        let code = try #require(wrong[name]).text
        #expect(!again.says(code))
      }
      #expect(try await world.user().wrongCodes == 1)
      let malformed = try await nadia.submit(
        address, ["first-code": "12", "second-code": "123456", "reason": "locked"])
      #expect(malformed.status == .unprocessableContent)
      #expect(malformed.says("Enter the six digits of the first code."))
      #expect(!malformed.says("123456") && !malformed.says("next code.</"))
      #expect(try await world.user().wrongCodes == 1)
    }
  }

  @Test func `codes that are only old don't count, and pages say from when codes are accepted`()
    async throws
  {
    try await World.withSampleData { world in
      try await allow(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = try await user + "/factors/\(world.factor(of: World.chiara).text)"
      // The device is 30 intervals fast, and is set right after its resynchronization.
      _ = try await nadia.submit(factor + "/resynchronization", try await codes(world, off: 30))
      world.clock.advance(seconds: 60)
      try await world.reauthenticate()
      let old = try await codes(world, off: 0)
      _ = try await nadia.submit(factor + "/resynchronization", old)
      let again = try await nadia.get(factor + "/resynchronization")
      Markup.check(again)
      #expect(again.says("These codes are older than the last accepted one."))
      // In 29 intervals.
      #expect(again.says("Enter two that the device shows after Nov 20, 2026, 08:16"))
      _ = try await nadia.submit(factor + "/resynchronization", try await codes(world, off: 29))
      #expect(
        try await nadia.get(factor + "/resynchronization").says(
          "These codes aren’t both newer than the last accepted one. Enter the next two."))
      #expect(try await world.user().wrongCodes == 0)
      let question = try await nadia.get(factor + "/clock-offset")
      Markup.check(question)
      #expect(question.says("accepted from Nov 20, 2026, 08:16"))
      _ = try await nadia.submit(factor + "/clock-offset", ["reason": "mistake"])
      #expect(try await nadia.get(user).says("accepted from Nov 20, 2026, 08:16"))
      // The page of the user says it, too, after a code.
      let code = try #require(old["second-code"]).text
      let rejected = try await world.signIn(
        "chiara.bianchi@example.com", password: "a user's password", code: code)
      #expect(rejected == "invalidCode")
      let page = try await nadia.get(user)
      Markup.check(page)
      #expect(page.says("Later codes were used, too. The device’s codes are accepted from Nov 20"))
    }
  }

  @Test func `without the rule it isn't offered, and its address says why`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let address =
        try await user + "/factors/\(world.factor(of: World.chiara).text)/resynchronization"
      #expect(try await !nadia.get(user).values(of: "href").contains(address))
      let page = try await nadia.get(address)
      #expect(page.says("This feature is off.") && !page.says("name=\"first-code\""))
    }
  }

  @Test func `while codes are locked, it isn't offered, and only then unlocking is`() async throws {
    try await World.withSampleData { world in
      try await allow(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let address =
        try await user + "/factors/\(world.factor(of: World.chiara).text)/resynchronization"
      #expect(try await !nadia.get(user).says("Unlock codes…"))
      for _ in 0..<5 {
        _ = try await nadia.submit(address, try await codes(world, off: 100))
      }
      let page = try await nadia.get(user)
      #expect(page.says("Unlock codes…") && !page.values(of: "href").contains(address))
    }
  }
}
