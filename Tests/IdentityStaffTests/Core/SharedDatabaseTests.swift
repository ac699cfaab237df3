import Crypto
import Database
import DatabaseSQLite
import OTP
import Synchronization
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Several servers on one database.
struct SharedDatabaseTests {
  @Test func `servers that start together create one signing key`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      let identities = try (UInt64(0)..<4).map { number in
        try Identity(
          database: database, keys: keys, profile: .standalone, hasher: .cheap,
          mail: TestMail.writer, clock: FixedClock().wall, random: Dice(seed: number).source)
      }
      try await identities[0].prepare()
      try await database.write { connection in
        _ = try connection.run("DELETE FROM /* test */ signing_key")
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for identity in identities { group.addTask { try await identity.signingKeys.prepare() } }
        try await group.waitForAll()
      }
      #expect(Set(try identities.map { try $0.signingKeys.currentID() }).count == 1)
      #expect(identities.allSatisfy { $0.signingKeys.publicKeys().count == 1 })
    }
  }

  // A file has one server, whose new code replaces the old one.
  @Test(.enabled(if: !TestDatabase.isSQLite, "a database in a file has one server"))
  func `the setup codes of the latest eight starts are valid`() async throws {
    try await withInstance { instance in
      let setup = instance.identity.setup
      @Sendable func complete(_ code: Secret?) async throws {
        _ = try await setup.complete(
          code: try TypedCode(#require(code).revealedText), email: "owner@example.com",
          displayName: "Olga",
          password: Secret("a long pass phrase"), address: "198.51.100.9", userAgent: "Browser")
      }
      let oldest = try await setup.issueCode()
      let second = try await setup.issueCode()
      for _ in 0..<6 { _ = try await setup.issueCode() }
      let newest = try await setup.issueCode()
      await expect("wrongCode") { try await complete(oldest) }
      try await complete(second)
      await expect("closed") { try await complete(newest) }
    }
  }

  @Test func `the time of last use never goes back`() async throws {
    try await withInstance { instance in
      let (one, other) = (instance.identity, try instance.identity())
      let key = try #require(try await one.apiKeys.list(instance.acme.project).first)
      _ = try await one.apiKeys.project(for: key.text)
      instance.clock.advance(3_600)
      _ = try await other.apiKeys.project(for: key.text)
      try await other.recordUses()
      try await one.recordUses()
      let stored = try await instance.identity().apiKeys.list(instance.acme.project).first
      #expect(stored?.lastUsedAt == FixedClock.noon.advanced(bySeconds: 3_600))
    }
  }

  @Test func `a server whose clock jumps isn't convinced by the time of the others`() async throws {
    try await withInstance { instance in
      let steady = Mutex(Duration.zero)
      let (wrong, right) = (FixedClock(), instance.identity.clockGuard)
      let server = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: wrong.wall, steady: { steady.withLock { $0 } })
      func pass(_ seconds: Int64) {
        instance.clock.advance(seconds)
        wrong.advance(seconds)
        steady.withLock { $0 += .seconds(seconds) }
      }
      #expect(try await right.check() == nil)
      #expect(try await server.clockGuard.check() == nil)
      wrong.advance(2 * 3_600)
      for _ in 0..<3 {
        pass(90)
        #expect(try await right.check() == nil)
        #expect(try await server.clockGuard.check() != nil)
      }
      // Confirmed where the clock is right.
      try await right.confirm(by: .program(Instance.boss))
      for _ in 0..<3 {
        #expect(try await server.clockGuard.check() != nil)
        pass(2)
      }
      wrong.advance(-2 * 3_600)
      #expect(try await server.clockGuard.check() == nil)
    }
  }
}
