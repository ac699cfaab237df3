import Crypto
import Identity
import OTP
import TestDatabases
import Testing

@testable import TestIdentity

struct SetupTests {
  private func complete(
    _ instance: Instance, _ code: Secret?, email: String = "owner@example.com",
    password: String = "a long pass phrase", from address: String = "198.51.100.9",
    with setup: Setup? = nil
  ) async throws -> NewConsoleSession {
    try await (setup ?? instance.identity.setup).complete(
      code: TypedCode(code?.revealedText ?? ""), email: email, displayName: "Olga",
      password: Secret(password), address: address, userAgent: "Browser")
  }

  @Test func `C1: the setup code works once: it creates the first owner and signs them in`()
    async throws
  {
    try await withInstance { instance in
      let setup = instance.identity.setup
      #expect(try await setup.isOpen())
      let code = try #require(try await setup.issueCode())
      #expect(code.revealedText.wholeMatch(of: /([A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}/) != nil)
      let new = try await complete(instance, code)
      #expect(new.session.administrator.grants == [Grant(role: .owner)])
      let found = try await instance.identity.consoleSessions.find(token: new.token.revealedText)
      #expect(found?.administrator.email == "owner@example.com")
      #expect(try await !setup.isOpen())
      #expect(try await setup.issueCode() == nil)
      await expect("closed") { try await complete(instance, code, email: "two@example.com") }
      let rows = try await instance.wholeLog().prefix(2)
      #expect(rows.map(\.action) == [.administratorSignIn, .administratorCreate])
      #expect(rows.allSatisfy { $0.actorID == new.session.administrator.id.text })
    }
  }

  @Test func `the code can be typed in lowercase, with spaces, and without hyphens`() async throws {
    try await withInstance { instance in
      let code = try #require(try await instance.identity.setup.issueCode())
      let typed = " " + code.revealedText.lowercased().split(separator: "-").joined(separator: " ")
      _ = try await complete(instance, Secret(typed))
    }
  }

  // On PostgreSQL, each server that starts shows a code, and all of them are valid.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `a new code replaces the old one`() async throws {
    try await withInstance { instance in
      let old = try await instance.identity.setup.issueCode()
      let new = try await instance.identity.setup.issueCode()
      await expect("wrongCode") { try await complete(instance, old) }
      _ = try await complete(instance, new)
    }
  }

  @Test func `no code is accepted before one is issued`() async throws {
    try await withInstance { instance in
      for code in ["", "-", "AAAA-AAAA-AAAA-AAAA"] {
        await expect("wrongCode") { try await complete(instance, Secret(code)) }
      }
    }
  }

  @Test func `of 64 concurrent wrong codes, ten are checked before the block`() async throws {
    try await withInstance { instance in
      let code = try await instance.identity.setup.issueCode()
      let outcomes = try await concurrently(64) { number in
        await outcome { try await complete(instance, Secret("WRONG\(number)")) }
      }
      #expect(outcomes.tally == ["wrongCode": 10, "throttled": 54])
      await expect("throttled") { try await complete(instance, code) }
      instance.clock.advance(30)
      _ = try await complete(instance, code)
    }
  }

  @Test func `an invalid field doesn't use up the code`() async throws {
    try await withInstance { instance in
      let code = try await instance.identity.setup.issueCode()
      for _ in 0..<12 {
        await expect("weakPassword") {
          try await complete(instance, code, password: "short")
        }
      }
      await expect("invalidEmail") { try await complete(instance, code, email: "x") }
      #expect(try await instance.identity.setup.isOpen())
      _ = try await complete(instance, code)
    }
  }

  @Test func `C1: of concurrent setups, exactly one creates the owner`() async throws {
    try await withInstance { instance in
      let code = try await instance.identity.setup.issueCode()
      let outcomes = try await concurrently(8) { number in
        await outcome {
          try await complete(instance, code, email: "owner\(number)@example.com", from: "\(number)")
        }
      }
      #expect(outcomes.tally["done"] == 1)
      #expect(Set(outcomes).isSubset(of: ["done", "closed"]))
      #expect(try await instance.identity.administrators.records().count == 1)
    }
  }

  @Test(.enabled(if: TestDatabase.isSQLite))
  func `a code replaced while the password is being hashed is rejected`() async throws {
    try await withInstance { instance in
      let setup = instance.identity.setup
      let code = try await setup.issueCode()
      let latch = Latch()
      let slow = try instance.identity(hasher: latch.hasher()).setup
      let completion = Task {
        await outcome { try await complete(instance, code, with: slow) }
      }
      await latch.isReached()
      let new = try await setup.issueCode()
      latch.open()
      #expect(await completion.value == "wrongCode")
      #expect(try await setup.isOpen())
      _ = try await complete(instance, new)
    }
  }

  @Test func `a project owner doesn't complete the setup`() async throws {
    try await withInstance { instance in
      _ = try await instance.identity.administrators.create(
        email: "o@example.com", displayName: "O", password: Secret("a long pass phrase"),
        grant: Grant(role: .owner, project: instance.acme.project),
        by: Author(actor: .commandLine))
      #expect(try await instance.identity.setup.isOpen())
    }
  }
}
