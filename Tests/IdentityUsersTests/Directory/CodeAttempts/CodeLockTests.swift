import Crypto
import Database
@testable import Identity
import Testing

@testable import TestIdentity

struct CodeLockTests {
  /// Enters wrong codes, waiting for each block to end.
  private func guess(_ instance: Instance, _ device: Device, _ times: Int) async throws {
    for _ in 0..<times {
      let account = try await instance.reload(device.account)
      if case .blocked(let until) = account.codeLock(at: instance.now) {
        instance.clock.advance(until.seconds - instance.now.seconds)
      }
      try await instance.enterCode(device, code: device.wrongCode(at: instance.now))
    }
  }

  @Test(arguments: [5, 10, 17])
  func `V3: as many wrong codes as the pool's limit lock codes, and the lock never expires`(
    cap: Int
  ) async throws {
    try await withInstance { instance in
      try await instance.setCodeCap(cap)
      let device = try await instance.enrolled(.alice)
      try await guess(instance, device, cap - 1)
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) != .closed)
      try await guess(instance, device, 1)
      let closed = try await instance.reload(device.account)
      #expect((closed.codeLock(at: instance.now), closed.wrongCodes) == (.closed, cap))
      instance.clock.advance(400 * 86_400)
      try await instance.identity.purgeExpired()
      let right = try device.code(at: instance.now)
      #expect(try await instance.enterCode(device, code: right) == "quotaExceeded")
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) == .closed)
    }
  }

  @Test func `V3: codes are locked after ten wrong ones by default`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await guess(instance, device, 10)
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) == .closed)
    }
  }

  @Test func `while the clock is doubted, wrong codes block for an hour and don't lock`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      #expect(try await instance.identity.clockGuard.check() == nil)
      instance.clock.advance(2 * 3_600)
      #expect(try await instance.identity.clockGuard.check() != nil)
      try await guess(instance, device, 12)
      let blocked = try await instance.reload(device.account)
      let end = instance.now.advanced(bySeconds: Throttle.codes.longest)
      #expect(blocked.codeLock(at: instance.now) == .blocked(until: end))
      try await instance.identity.clockGuard.confirm(by: .program(Instance.boss))
      try await guess(instance, device, 1)
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) == .closed)
    }
  }

  @Test func `codes refused during a lock are counted in one code attempt`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await guess(instance, device, 5)
      for _ in 0..<7 { try await instance.enterCode(device, code: device.code(at: instance.now)) }
      let blocked = try await instance.codeAttempts(device.account)
      #expect((blocked[0].result, blocked[0].times) == (.blocked, 7))
      #expect(blocked[1].result == .wrong)
      instance.clock.advance(30)
      try await guess(instance, device, 5)
      for _ in 0..<3 { try await instance.enterCode(device, code: device.code(at: instance.now)) }
      let closed = try await instance.codeAttempts(device.account)
      #expect((closed[0].result, closed[0].times) == (.closed, 3))
      #expect(try await instance.reload(device.account).wrongCodes == 10)
    }
  }

  @Test func `V5: a session or a new password doesn't unlock codes, but a removal does`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      try await guess(instance, device, 10)
      _ = try await instance.identity.sessions.renew(device.session)
      var change = AccountChange()
      change.password = .set(Person.alice.password)
      _ = try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      _ = try await instance.pending(.alice)
      #expect(try await instance.reload(device.account).codeLock(at: instance.now) == .closed)
      #expect(try await locked(instance) == [device.account.id])
      try await remove(instance, device, factor: "second")
      let open = try await instance.reload(device.account)
      #expect((open.codeLock(at: instance.now), open.wrongCodes) == (.open, 0))
      #expect(try await instance.enterCode(device, code: device.code(at: instance.now)) == "done")
    }
  }

  private func remove(_ instance: Instance, _ device: Device, factor: String) async throws {
    let pool = instance.acme
    let key = try #require(try await instance.reload(device.account).factors.last).id
    #expect(key.text == factor)
    try await instance.database.write { connection in
      let account = try #require(
        try AccountRecord.find(pool, device.account.id, connection))
      let gone = account.factors.filter { $0.id == key }
      try FactorRecord.delete(gone, of: account, in: pool, connection)
    }
  }

  @Test func `unlocking a user resets the count of wrong codes`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await guess(instance, device, 10)
      for isLocked in [true, false] {
        let wasLocked = try await instance.database.write { connection in
          let account = try #require(
            try AccountRecord.find(instance.acme, device.account.id, connection))
          return try AccountRecord.unlockCodes(account.key, connection)
        }
        #expect(wasLocked == isLocked)
      }
      #expect(try await locked(instance) == [])
      try await guess(instance, device, 4)
      #expect(try await instance.enterCode(device, code: device.code(at: instance.now)) == "done")
    }
  }

  private func locked(_ instance: Instance) async throws -> [ID<Account>] {
    let accounts = instance.identity.accounts
    var lists: [[ID<Account>]] = []
    for sort in Accounts.Sort.allCases {
      let page = try await accounts.list(instance.acme, filter: .locked, sort: sort)
      lists.append(page.items.map(\.id))
    }
    #expect(lists.allSatisfy { $0 == lists[0] })
    #expect(try await accounts.counts(instance.acme).locked == lists[0].count)
    let found = try await accounts.search(instance.acme, "ali", filter: .locked)
    #expect(found.accounts.map(\.id) == lists[0])
    return lists[0]
  }

  @Test func `an expired lock is delisted by the next purge, or by a correct code at once`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      #expect(try await locked(instance) == [])
      try await guess(instance, device, 5)
      #expect(try await locked(instance) == [device.account.id])
      instance.clock.advance(29)
      try await instance.identity.purgeExpired()
      #expect(try await locked(instance) == [device.account.id])
      instance.clock.advance(1)
      try await instance.identity.purgeExpired()
      #expect(try await locked(instance) == [])
      let account = try await instance.reload(device.account)
      #expect((account.wrongCodes, account.codesBlockedUntil) == (5, nil))
      try await guess(instance, device, 1)
      #expect(try await locked(instance) == [device.account.id])
      instance.clock.advance(60)
      #expect(try await instance.enterCode(device, code: device.code(at: instance.now)) == "done")
      #expect(try await locked(instance) == [])
    }
  }

  @Test func `a locked user isn't counted after deletion`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await guess(instance, device, 10)
      try await instance.identity.accounts.delete(
        instance.acme, device.account.id, by: Instance.boss)
      #expect(try await locked(instance) == [])
    }
  }
}
