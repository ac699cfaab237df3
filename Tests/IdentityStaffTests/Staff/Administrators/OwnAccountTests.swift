import Crypto
import Identity
import Testing

@testable import TestIdentity

struct OwnAccountTests {
  @Test func `changing the password requires the current one and ends other sessions`() async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let one = try await instance.giveConsolePassword(nora).session
      let two = try await instance.giveConsolePassword(nora).session
      let account = instance.identity.ownAccount
      let fresh = Secret("another pass phrase")
      await expect("wrongPassword") {
        try await account.changePassword(
          of: two.session, old: Secret("wrong"), new: fresh, by: instance.author(nora))
      }
      await expect("weakPassword") {
        try await account.changePassword(
          of: two.session, old: Instance.consolePassword, new: Secret("short"),
          by: instance.author(nora))
      }
      let ended = try await account.changePassword(
        of: two.session, old: Instance.consolePassword, new: fresh, by: instance.author(nora))
      #expect(ended == 1)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.find(token: one.token.revealedText) == nil)
      #expect(try await sessions.find(token: two.token.revealedText) != nil)
      await expect("refused") { try await instance.giveConsolePassword(nora) }
      await expect("done") { try await instance.giveConsolePassword(nora, password: fresh) }
    }
  }

  @Test func `a password change removes expired sessions without counting them`() async throws {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let old = try await instance.giveConsolePassword(nora).session
      instance.clock.advance(3_601)
      let own = try await instance.giveConsolePassword(nora).session
      let ended = try await instance.identity.ownAccount.changePassword(
        of: own.session, old: Instance.consolePassword, new: Secret("another pass phrase"),
        by: instance.author(nora))
      #expect(ended == 0)
      #expect(try #require(try await instance.wholeLog().first).changes.isEmpty)
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.ranOut(token: old.token.revealedText) == nil)
    }
  }

  @Test func `attempts at the current password are throttled separately from sign-in`() async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      func attempt() async -> String {
        await outcome {
          try await instance.identity.ownAccount.changePassword(
            of: session, old: Secret("wrong"), new: Secret("another pass phrase"),
            by: instance.author(nora))
        }
      }
      var outcomes: [String] = []
      for _ in 0..<11 { outcomes.append(await attempt()) }
      #expect(outcomes.tally == ["wrongPassword": 10, "throttled": 1])
      await expect("done") { try await instance.giveConsolePassword(nora) }
    }
  }

  @Test func `preferences are loaded with the session, and invalid ones aren't stored`()
    async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let new = try await instance.giveConsolePassword(nora).session
      #expect(new.session.preferences == Preferences())
      let chosen = Preferences(timeZone: "Asia/Kolkata", theme: .dark)
      try await instance.identity.ownAccount.change(
        chosen, of: nora, from: Preferences(), by: instance.author(nora))
      try await instance.identity.ownAccount.change(
        Preferences(timeZone: "x y"), of: nora, from: chosen,
        by: instance.author(nora))
      let found = try await instance.identity.consoleSessions.find(token: new.token.revealedText)
      #expect(found?.preferences == chosen)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.old(.timeZone) == .text("UTC") && row.old(.theme) == .code("system"))
      #expect(row.new(.timeZone) == .text("Asia/Kolkata") && row.new(.theme) == .code("dark"))
    }
  }

  @Test func `administrators can end individual sessions of their own only`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let sessions = instance.identity.consoleSessions
      let one = try await instance.giveConsolePassword(nora).session
      instance.clock.advance(60)
      let two = try await instance.giveConsolePassword(nora, from: "192.0.2.44").session
      let list = try await sessions.list(of: nora.id)
      #expect(list.map(\.id) == [two.session.id, one.session.id])
      #expect(list.map(\.address) == ["192.0.2.44", "a"])
      let foreign = try await sessions.end(one.session.id, of: boss, by: instance.author(boss))
      #expect(!foreign)
      let own = try await sessions.end(one.session.id, of: nora, by: instance.author(nora))
      #expect(own)
      #expect(try await sessions.list(of: nora.id).map(\.id) == [two.session.id])
      let none = try await sessions.endOthers(
        than: two.session.id, of: nora, by: instance.author(nora))
      #expect(none == 0)
      instance.clock.advance(3_600)
      #expect(try await sessions.list(of: nora.id).isEmpty)
    }
  }

  @Test func `an expired session is remembered for a day, and an ended one isn't`() async throws {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let sessions = instance.identity.consoleSessions
      let new = try await instance.giveConsolePassword(nora).session
      let token = new.token.revealedText
      #expect(try await sessions.ranOut(token: token) == nil)
      let csrf = new.session.csrfToken
      #expect(try await !sessions.ranOut(csrfToken: csrf, of: nora.id))
      instance.clock.advance(3_601)
      try await instance.identity.purgeExpired()
      let known = try await sessions.ranOut(token: token)
      #expect(known?.administrator == nora.id)
      #expect(known?.csrfToken == csrf)
      let later = try await instance.giveConsolePassword(nora).session
      #expect(try await sessions.ranOut(csrfToken: csrf, of: nora.id))
      #expect(try await !sessions.ranOut(csrfToken: later.session.csrfToken, of: nora.id))
      let olga = try await instance.administrator("olga", .owner)
      #expect(try await !sessions.ranOut(csrfToken: csrf, of: olga.id))
      instance.clock.advance(24 * 3_600)
      try await instance.identity.purgeExpired()
      #expect(try await sessions.ranOut(token: token) == nil)
      let other = try await instance.giveConsolePassword(nora).session
      try await sessions.end(other.session, by: instance.author(nora))
      #expect(try await sessions.ranOut(token: other.token.revealedText) == nil)
    }
  }
}
