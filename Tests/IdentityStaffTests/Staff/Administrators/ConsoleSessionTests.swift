import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct ConsoleSessionTests {
  static let email = "dora@example.com"
  static let password = Secret("a long pass phrase")

  @discardableResult
  private func dora(_ instance: Instance) async throws -> Administrator {
    try await instance.identity.administrators.create(
      email: Self.email, displayName: "Dora", password: Self.password,
      grant: Grant(role: .support), by: Author(actor: .commandLine))
  }

  private func signIn(
    _ instance: Instance, email: String = email, password: Secret = password,
    from address: String = "198.51.100.7"
  ) async throws -> NewConsoleSession {
    try await instance.identity.consoleSessions.signIn(
      email: email, password: password, address: address, userAgent: "Browser"
    ).session
  }

  @Test func `V9, C2: the cookie's token finds the session with the current grants`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      let dora = try await dora(instance)
      let new = try await signIn(instance, email: "Dora@EXAMPLE.com")
      let token = new.token.revealedText
      #expect(token.utf8.count == 43)
      let found = try #require(try await sessions.find(token: token))
      #expect(found.administrator.id == dora.id)
      #expect(found.administrator.grants == [Grant(role: .support)])
      #expect(found.csrfToken == new.session.csrfToken)
      #expect(found.id == new.session.id)
      #expect(!token.contains(found.id) && found.csrfToken != token)
      #expect(found.expiresAt == instance.now.advanced(bySeconds: 12 * 3_600))
      for other in ["", "x", token + "x", String(token.dropLast()), token.lowercased()] {
        #expect(try await sessions.find(token: other) == nil)
      }
      let second = try await signIn(instance)
      #expect(second.token != new.token)
      #expect(second.session.csrfToken != new.session.csrfToken)
    }
  }

  @Test func `C3: a session expires after an hour of inactivity`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      try await dora(instance)
      let token = try await signIn(instance).token.revealedText
      for _ in 0..<3 {
        instance.clock.advance(3_599)
        #expect(try await sessions.find(token: token) != nil)
      }
      instance.clock.advance(3_600)
      #expect(try await sessions.find(token: token) == nil)
      #expect(try await sessions.find(token: token) == nil)
    }
  }

  @Test func `C3: a session expires after twelve hours regardless of activity`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      try await dora(instance)
      let token = try await signIn(instance).token.revealedText
      for _ in 0..<23 {
        instance.clock.advance(1_800)
        #expect(try await sessions.find(token: token) != nil)
      }
      instance.clock.advance(1_799)
      #expect(try await sessions.find(token: token) != nil)
      instance.clock.advance(1)
      #expect(try await sessions.find(token: token) == nil)
    }
  }

  @Test func `signing out ends this session and is audited once`() async throws {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      let author = instance.author(try await dora(instance))
      let (first, second) = (try await signIn(instance), try await signIn(instance))
      for _ in 0..<2 { try await sessions.end(first.session, by: author) }
      #expect(try await sessions.find(token: first.token.revealedText) == nil)
      #expect(try await sessions.find(token: second.token.revealedText) != nil)
      let actions = try await instance.wholeLog().map(\.action).tally
      #expect(actions[.administratorSignIn] == 2)
      #expect(actions[.administratorSignOut] == 1)
    }
  }

  @Test func `signing out ends a session whose token was just replaced in another tab`()
    async throws
  {
    try await withInstance { instance in
      let sessions = instance.identity.consoleSessions
      let dora = try await dora(instance)
      let session = try await signIn(instance).session
      let (now, random) = (instance.now, instance.identity.store.random)
      try await instance.database.write { connection in
        _ = try ConsoleSessions.renewToken(session, at: now, random: random, connection)
      }
      try await sessions.end(session, by: instance.author(dora))
      #expect(try await sessions.list(of: dora.id).isEmpty)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorSignOut && row.objectID == dora.id.text)
    }
  }

  @Test func `a wrong password and an unknown email are refused alike, and the email isn't stored`()
    async throws
  {
    try await withInstance { instance in
      let dora = try await dora(instance)
      await expect("refused") { try await signIn(instance, password: Secret("wrong")) }
      await expect("refused") { try await signIn(instance, email: "hunter2@example.com") }
      let rows = try await instance.wholeLog().prefix(2)
      #expect(rows.map(\.action).tally == [.administratorSignInRefused: 2])
      #expect(rows.map(\.objectID) == ["", dora.id.text])
      #expect(rows.allSatisfy { $0.objectName.isEmpty && $0.changes.isEmpty })
    }
  }

  @Test(arguments: [email, "nobody@example.com"])
  func `of 64 concurrent wrong passwords, ten are checked, for known and unknown emails`(
    email: String
  ) async throws {
    try await withInstance { instance in
      try await dora(instance)
      let outcomes = try await concurrently(64) { number in
        await outcome { try await signIn(instance, email: email, password: Secret("wrong")) }
      }
      #expect(outcomes.tally == ["refused": 10, "throttled": 54])
      await expect("throttled") { try await signIn(instance, email: email) }
      instance.clock.advance(30)
      await expect(email == Self.email ? "done" : "refused") {
        try await signIn(instance, email: email)
      }
    }
  }

  @Test func `a block is audited, and attempts during the block are not`() async throws {
    try await withInstance { instance in
      let dora = try await dora(instance)
      func blocks() async throws -> [AuditRow] {
        try await instance.wholeLog().filter { $0.action == .administratorBlock }
      }
      for _ in 0..<9 { _ = try? await signIn(instance, password: Secret("wrong")) }
      #expect(try await blocks().isEmpty)
      for _ in 0..<6 { _ = try? await signIn(instance, password: Secret("wrong")) }
      #expect(try await blocks().map(\.objectID) == [dora.id.text])
      #expect(try await blocks().first?.new(.blockedFor) == .duration(30))
      instance.clock.advance(30)
      for _ in 0..<2 { _ = try? await signIn(instance, password: Secret("wrong")) }
      #expect(try await blocks().map { $0.new(.blockedFor) } == [.duration(60), .duration(30)])
    }
  }

  @Test func `attempts on a blocked email don't count against the network`() async throws {
    try await withInstance { instance in
      try await dora(instance)
      for _ in 0..<10 {
        await expect("refused") {
          try await signIn(instance, email: "nobody@example.com", from: "a")
        }
      }
      for _ in 0..<120 {
        await expect("throttled") {
          try await signIn(instance, email: "nobody@example.com", from: "a")
        }
      }
      await expect("done") { try await signIn(instance, from: "a") }
    }
  }

  @Test func `a blocked network can't lock out an administrator`() async throws {
    try await withInstance { instance in
      try await dora(instance)
      for number in 0..<100 {
        _ = await outcome {
          try await signIn(instance, email: "x\(number)@example.com", from: "evil")
        }
      }
      for _ in 0..<12 {
        await expect("throttled") {
          try await signIn(instance, password: Secret("wrong"), from: "evil")
        }
      }
      await expect("done") { try await signIn(instance) }
    }
  }

  @Test func `an attempt that the server was too busy to check isn't counted`() async throws {
    try await withInstance { instance in
      try await dora(instance)
      let latch = Latch()
      let crowded = try instance.identity(hasher: latch.hasher(width: 1, waiting: 0))
      let holder = Task {
        var new = NewAccount()
        (new.email, new.password) = (Person.bob.email, Person.bob.password)
        _ = try await crowded.accounts.create(instance.acme, new, by: .program(Instance.boss))
      }
      await latch.isReached()
      for _ in 0..<12 {
        await expect("busy") {
          try await crowded.consoleSessions.signIn(
            email: Self.email, password: Self.password, address: "a", userAgent: "Browser")
        }
      }
      #expect(try await instance.guesses(at: "administrator") == 0)
      latch.open()
      try await holder.value
      await expect("refused") { try await signIn(instance, password: Secret("wrong")) }
      await expect("done") { try await signIn(instance) }
    }
  }
}
