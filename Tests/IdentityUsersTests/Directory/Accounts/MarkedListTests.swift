import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Lists of the few accounts that have a mark, and of those without a sign-in for long.
struct MarkedListTests {
  @Test func `a wrong clock is over with its factor`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(5)
      let device = try await instance.enrolled(.alice)
      for _ in 0..<2 {
        instance.clock.advance(600)
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: -3))
      }
      let accounts = instance.identity.accounts
      let (_, marked) = try await accounts.countsWithMarked(instance.acme)
      #expect(marked == MarkedCounts(clockOff: 1))
      let found = try await accounts.search(instance.acme, "alice", filter: .clockOff)
      #expect(found.accounts.map(\.id) == [device.account.id])
      func remove(_ kind: Factor.Kind) async throws {
        let pool = instance.acme
        try await instance.database.write { connection in
          let account = try #require(try AccountRecord.find(pool, device.account.id, connection))
          let factors = account.factors.filter { $0.kind == kind }
          try #require(!factors.isEmpty)
          try FactorRecord.delete(factors, of: account, in: pool, connection)
        }
      }
      try await instance.addPhone("phone", to: device.account.id)
      try await remove(.phone)
      let kept = try await accounts.countsWithMarked(instance.acme).marked
      #expect(kept == MarkedCounts(clockOff: 1), "the phone has no clock")
      try await remove(.totp)
      let after = try await accounts.countsWithMarked(instance.acme).marked
      #expect(after == MarkedCounts())
      #expect(try await accounts.list(instance.acme, filter: .clockOff).items.isEmpty)
    }
  }

  @Test func `a wrong clock is over with a resynchronization`() async throws {
    try await withInstance { instance in
      try await instance.setWindow(5)
      let device = try await instance.enrolled(.alice)
      for _ in 0..<2 {
        instance.clock.advance(600)
        try await instance.enterCode(device, code: device.code(at: instance.now, steps: -3))
      }
      let accounts = instance.identity.accounts
      let before = try await accounts.countsWithMarked(instance.acme).marked
      #expect(before == MarkedCounts(clockOff: 1))
      try await instance.allowResynchronization()
      instance.clock.advance(600)
      let agent = try await instance.agent()
      let result = try await instance.resynchronize(device, by: agent, off: -3)
      #expect(result.offset != nil)
      #expect(try await accounts.countsWithMarked(instance.acme).marked == MarkedCounts())
    }
  }

  @Test func `a page of inactive users examines a limited number, and the next continues`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      instance.clock.advance(91 * 86_400)
      try await instance.addUsers(7)
      let (pool, now) = (instance.acme, instance.now)
      var (found, after, pages): ([ID<Account>], AccountList.Place?, Int) = ([], nil, 0)
      repeat {
        let place = after
        let page = try await instance.database.read { connection in
          let list = AccountList(
            pool: pool, filter: .inactive, sort: .lastSignIn, now: now, mostExamined: 3)
          return try list.page(after: place, limit: 2, connection)
        }
        found += page.rows.map(\.account.id)
        after = page.end
        pages += 1
      } while after != nil
      #expect(found == [alice.id] && pages == 3)
      let accounts = instance.identity.accounts
      #expect(try await accounts.countInactive(pool, atMost: 7) == nil)
      #expect(try await accounts.countInactive(pool, atMost: 8) == 1)
    }
  }

  @Test func `users who reported a change are listed until someone decides`() async throws {
    try await withInstance { instance in
      let (alice, _) = (try await instance.account(.alice), try await instance.account(.bob))
      let accounts = instance.identity.accounts
      func lock(_ isLocked: Bool) async throws {
        let (pool, now) = (instance.acme, instance.now)
        try await instance.database.write { connection in
          let account = try #require(try AccountRecord.find(pool, alice.id, connection))
          let lock = try AccountLock(
            of: account, reportedFrom: nil, in: pool, at: now, connection)
          try AccountLock.store(isLocked ? lock : nil, of: account.key, connection)
        }
      }
      for isLocked in [true, false] {
        try await lock(isLocked)
        let listed = try await accounts.list(instance.acme, filter: .reported, sort: .email).items
        #expect(listed.map(\.id) == (isLocked ? [alice.id] : []))
        #expect(listed.map(\.isReported) == (isLocked ? [true] : []))
        let marked = try await accounts.countsWithMarked(instance.acme).marked
        #expect(marked == MarkedCounts(reported: isLocked.number))
      }
    }
  }

  @Test(arguments: Accounts.Sort.allCases)
  func `users who haven't signed in for 90 days are inactive, new ones aren't`(
    sort: Accounts.Sort
  ) async throws {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      instance.clock.advance(91 * 86_400)
      let mallory = try await instance.account(.mallory)
      func listed() async throws -> [ID<Account>] {
        var (seen, after): ([ID<Account>], String?) = ([], nil)
        repeat {
          let page = try await accounts.list(
            instance.acme, filter: .inactive, sort: sort, after: after, limit: 1)
          seen += page.items.map(\.id)
          after = page.next
        } while after != nil
        let found = try await accounts.search(instance.acme, "example", filter: .inactive)
        #expect(Set(found.accounts.map(\.id)) == Set(seen))
        let count = try await accounts.countInactive(instance.acme, atMost: 9)
        #expect(count == seen.count)
        return seen
      }
      #expect(try await listed() == [bob.id, alice.id])
      #expect(try await accounts.countInactive(instance.acme, atMost: 1) == nil)
      func signIn(_ account: Account, daysAgo days: Int64) async throws {
        var change = AccountChange()
        change.lastLoginAt = instance.now.advanced(bySeconds: -days * 86_400)
        try await accounts.update(instance.acme, account.id, change, by: Instance.boss)
      }
      try await signIn(alice, daysAgo: 91)
      #expect(try await listed() == [alice.id, bob.id], "the last sign-in is first")
      try await signIn(bob, daysAgo: 90)
      #expect(try await listed() == [alice.id])
      try await signIn(mallory, daysAgo: 1)
      #expect(try await listed() == [alice.id])
    }
  }
}
