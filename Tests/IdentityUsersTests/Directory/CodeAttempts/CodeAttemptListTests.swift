import Database
@testable import Identity
import OTP
import Testing

@testable import TestIdentity

/// Tests the paged list of an account's code attempts.
struct CodeAttemptListTests {
  /// Records accepted codes of a user, one second apart, with the last one now.
  private func write(_ count: Int, of account: Account, _ instance: Instance) async throws {
    let (pool, id, now) = (instance.acme, account.id, instance.now)
    try await instance.database.write { connection in
      for number in 0..<count {
        let account = try #require(try AccountRecord.find(pool, id, connection))
        let attempt = CodeAttemptRecorder(
          account: account, pool: pool, way: .app, enrollment: nil, window: .standard,
          origin: RequestOrigin(address: "203.0.113.9", userAgent: "n\(number)"))
        let at = now.advanced(bySeconds: Int64(number - count + 1))
        try attempt.pass(
          CodeFinding(.accepted, distance: 0, step: Int64(number)), at: at, connection)
      }
    }
  }

  private func parts(_ account: Account, _ instance: Instance, limit: Int) async throws
    -> [[CodeAttempt]]
  {
    var (parts, after) = ([[CodeAttempt]](), String?.none)
    repeat {
      let page = try await instance.identity.codeAttempts.list(account, after: after, limit: limit)
      parts.append(page.items)
      after = page.next
    } while after != nil
    return parts
  }

  @Test
  func `of a deleted account's attempts, the newest 500 are deleted at once, and others later`()
    async throws
  {
    func kept(_ instance: Instance) async throws -> Int {
      try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM code_attempt") {
          try $0.next()
        } ?? 0
      }
    }
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await write(1_201, of: alice, instance)
      try await write(3, of: try await instance.account(.bob), instance)
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      #expect(try await kept(instance) == 704)
      try await instance.identity.purgeExpired()
      #expect(try await kept(instance) == 3)
    }
  }

  @Test func `3,000 attempts are paged, each listed once, newest first`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await write(3_000, of: alice, instance)
      let account = try await instance.reload(alice)
      let parts = try await parts(account, instance, limit: 50)
      #expect(parts.map(\.count) == [Int](repeating: 50, count: 60))
      let all = parts.flatMap { $0 }
      #expect(all.map(\.origin.userAgent) == (0..<3_000).reversed().map { "n\($0)" })
      let shown = try await instance.identity.codeAttempts.list(account)
      #expect(shown.items.count == CodeAttempts.shown && shown.next != nil)
    }
  }

  @Test(arguments: [0, 1, 2, 49, 50, 51, 100])
  func `the last page has no next page`(count: Int) async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      try await write(count, of: alice, instance)
      let parts = try await parts(try await instance.reload(alice), instance, limit: 50)
      #expect(parts.map(\.count).reduce(0, +) == count)
      #expect(parts.count == max(1, (count + 49) / 50))
      #expect(count == 0 || parts.allSatisfy { !$0.isEmpty })
    }
  }

  @Test func `an expired, foreign, or invalid page token returns nothing`() async throws {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      // Alice's first ten attempts are before midnight.
      instance.clock.advance(86_400 - instance.now.seconds % 86_400 + 49)
      try await write(60, of: alice, instance)
      instance.clock.advance(1)
      try await write(60, of: bob, instance)
      let account = try await instance.reload(alice)
      let codeAttempts = instance.identity.codeAttempts
      let next = try #require(try await codeAttempts.list(account, limit: 50).next)
      let other = try await instance.reload(bob)
      for after in ["", "x", "-1", "9223372036854775808", "0", "' OR 1=1 --"] {
        let page = try await codeAttempts.list(account, after: after)
        #expect(page.items.isEmpty && page.next == nil, "\(after)")
      }
      // Bob's attempts have the same timestamps as Alice's, except for the last.
      let foreign = try #require(other.lastCodeAttemptAt)
      #expect(try await codeAttempts.list(account, after: String(foreign)).items.isEmpty)
      #expect(try await codeAttempts.list(account, after: next).items.count == 10)
      // The attempts of the first day are deleted while the list is being read.
      instance.clock.advance(Int64(SupportRules().codeAttemptDays) * 86_400)
      while try await instance.identity.codeAttempts.age() {}
      #expect(try await codeAttempts.list(account, after: next).items.isEmpty)
      let left = try await codeAttempts.list(account, limit: 50)
      #expect(left.items.count == 50 && left.next == nil)
    }
  }
}
