import Crypto
import Database
import Identity
import Synchronization
import TestDatabases
import Testing

@testable import TestIdentity

/// What unauthenticated clients can store in the database.
struct HostileSignInTests {
  /// 320 characters of 3 KB each: 960 KB.
  private static let long = String(
    repeating: "a" + String(repeating: "\u{301}", count: 1_500), count: 320)

  /// The size of the database in bytes.
  private func size(_ instance: Instance) async throws -> Int {
    try await instance.database.read { connection in
      try connection.first(
        "SELECT /* test */ bytes FROM \(SQL.databaseSize)"
      ) { try $0.next() } ?? 0
    }
  }

  /// An IP address in a separate network.
  private static func address(_ number: Int) -> String { "2001:db8:1:\(number)::1" }

  private func expectSmallGrowth(
    _ instance: Instance, _ signIn: (Int) async -> String
  ) async throws {
    let before = try await size(instance)
    for number in 0..<1_000 { #expect(await signIn(number) != "done") }
    while try await instance.identity.audit.file() {}
    #expect(try await size(instance) - before < 1_000 * 1_024)
    let longest = try await instance.database.read { connection in
      try connection.first("SELECT /* test */ max(\(.byteCount("name"))) FROM throttle") {
        try $0.next() as Int
      }
    }
    #expect(try #require(longest) < 150)
  }

  /// The longest text accepted as an email; longer ones are rejected before anything is stored.
  private static func longest(_ number: Int) -> String {
    "\(10_000 + number)\(String(repeating: "x", count: 303))@example.com"
  }

  // PostgreSQL's files contain former versions of rows until it vacuums them.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `1000 sign-ins with long emails store less than 1 KB each`() async throws {
    try await withInstance { instance in
      try await expectSmallGrowth(instance) { number in
        await outcome {
          try await instance.identity.signIns.password(
            instance.acme, email: Self.longest(number), password: Person.wrong,
            address: ClientAddress(seen: Self.address(number)))
        }
      }
    }
  }

  // PostgreSQL's files contain former versions of rows until it vacuums them.
  @Test(.enabled(if: TestDatabase.isSQLite))
  func `1000 console sign-ins with long emails store less than 1 KB each`() async throws {
    try await withInstance { instance in
      try await expectSmallGrowth(instance) { number in
        await outcome {
          try await instance.identity.consoleSessions.signIn(
            email: "\(number)\(Self.long)", password: Person.wrong,
            address: Self.address(number), userAgent: Self.long)
        }
      }
    }
  }

  @Test func `1000 requests to email long addresses store nothing`() async throws {
    try await withInstance { instance in
      let before = try await size(instance)
      for number in 0..<1_000 {
        await expect("invalidEmail") {
          try await instance.identity.outOfBandCodes.send(
            OutOfBandRequest(.passwordReset, for: .email("\(number)@\(Self.long)")),
            in: instance.acme, hidingUsers: true, from: ClientAddress(seen: Self.address(number)))
        }
      }
      #expect(try await size(instance) == before)
    }
  }

  @Test func `emails of failed sign-ins are not stored in the throttle`() async throws {
    try await withInstance { instance in
      _ = await outcome {
        try await instance.identity.signIns.password(
          instance.acme, email: "hunter2@example.com", password: Person.wrong, address: "a")
      }
      _ = await outcome {
        try await instance.identity.consoleSessions.signIn(
          email: "hunter2@example.com", password: Person.wrong, address: "a", userAgent: "Browser")
      }
      let names = try await instance.database.read { connection in
        try connection.all("SELECT /* test */ name FROM throttle") { try $0.next() as String }
      }
      #expect(names.count >= 4)
      #expect(!names.contains { $0.contains("hunter2") })
    }
  }

  @Test func `a session stores at most 200 bytes of the user agent`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      _ = try await instance.identity.consoleSessions.signIn(
        email: olga.email, password: Instance.consolePassword, address: "a", userAgent: Self.long)
      let sessions = try await instance.identity.consoleSessions.list(of: olga.id)
      #expect(sessions.map(\.userAgent.utf8.count).allSatisfy { (1...200).contains($0) })
    }
  }

  @Test func `C15: a flood of passwords in one pool doesn't block other pools or the console`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice, in: instance.east)
      let olga = try await instance.administrator("olga", .owner)
      let latch = Latch()
      let crowded = try instance.identity(hasher: latch.hasher(width: 1, waiting: 8))
      let busy = Mutex(0)
      let flood = Task {
        try await concurrently(20) { number in
          let outcome = await outcome {
            try await crowded.signIns.password(
              instance.acme, email: "\(number)@example.com", password: Person.wrong,
              address: ClientAddress(seen: Self.address(number)))
          }
          if outcome == "busy" { busy.withLock { $0 += 1 } }
          return outcome
        }
      }
      // One is being hashed and six are waiting.
      while busy.withLock({ $0 }) < 13 { await Task.yield() }
      let other = Task {
        await outcome {
          try await crowded.signIns.password(
            instance.east, email: Person.alice.email, password: Person.alice.password,
            address: "a")
        }
      }
      let console = Task {
        await outcome {
          try await crowded.consoleSessions.signIn(
            email: olga.email, password: Instance.consolePassword, address: "a", userAgent: "x")
        }
      }
      for _ in 0..<20 { latch.open() }
      #expect(await other.value == "done")
      #expect(await console.value == "done")
      #expect(try await flood.value.tally == ["busy": 13, "emailNotFound": 7])
    }
  }
}
