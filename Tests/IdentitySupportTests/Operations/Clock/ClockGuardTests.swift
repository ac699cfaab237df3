import Database
@testable import Identity
import Synchronization
import Testing

@testable import TestIdentity

@Suite struct ClockGuardTests {
  /// A steady clock that a test advances.
  private final class Steady: Sendable {
    private let passed = Mutex(Duration.zero)
    var now: Duration { passed.withLock { $0 } }
    func advance(_ seconds: Int) { passed.withLock { $0 += .seconds(seconds) } }
  }

  private func watch(_ instance: Instance, _ steady: Steady = Steady()) -> ClockGuard {
    ClockGuard(store: instance.identity.store, steady: { steady.now })
  }

  @Test func `a startup within a week of the newest stored time is trusted`() async throws {
    try await withInstance { (instance: Instance) async throws in
      #expect(try await watch(instance).check() == nil)
      instance.clock.advance(6 * 86_400)
      #expect(try await watch(instance).check() == nil)
      instance.clock.advance(-60)
      #expect(try await watch(instance).check() == nil)
    }
  }

  @Test(arguments: [400 * 86_400, -2 * 3_600] as [Int64])
  func `V10: a startup far from the newest stored time is doubted until it's confirmed`(
    jump: Int64
  ) async throws {
    try await withInstance { (instance: Instance) async throws in
      #expect(try await watch(instance).check() == nil)
      let correctTime = instance.now
      instance.clock.advance(jump)
      let server = watch(instance)
      let doubt = try await server.check()
      #expect(doubt?.isBehind == (jump < 0) && doubt?.expected == correctTime)
      #expect(try await server.check() != nil, "a check doesn't end the doubt")
      // Another process, such as the command line.
      try await watch(instance).confirm(by: .program(Author(actor: .commandLine)))
      #expect(try await instance.wholeLog().first?.action == .instanceConfirmClock)
      #expect(try await server.check() == nil)
      #expect(try await watch(instance).check() == nil)
    }
  }

  @Test func `the clock is compared with that of a database's server`() async throws {
    try await withInstance { (instance: Instance) async throws in
      let identity = instance.identity
      guard let first = try await identity.databaseClockDifference() else {
        // A file has the clock of this machine.
        #expect(!instance.database.dialect.sharesDatabase)
        return #expect(try await identity.databaseClock() == .shared)
      }
      instance.clock.advance(first)
      #expect(try await identity.databaseClock() == .agrees)
      instance.clock.advance(60)
      guard case .differs(let ahead) = try await identity.databaseClock() else {
        Issue.record("a minute is a difference")
        return
      }
      #expect((-60 ... -60 + DatabaseClock.tolerance).contains(ahead))
      // The database's is ahead.
      instance.clock.advance(-60 - DatabaseClock.tolerance - 1)
      guard case .differs(1...) = try await identity.databaseClock() else {
        Issue.record("\(DatabaseClock.tolerance) seconds are a difference")
        return
      }
    }
  }

  @Test func `only an owner can confirm the clock, with their second factor`() async throws {
    try await withInstance { (instance: Instance) async throws in
      let identity = instance.identity
      let olga = try await instance.agentWithDevice("olga", role: .owner)
      let own = try #require(olga.device)
      instance.clock.advance(60)
      #expect(try await identity.clockGuard.check() == nil)
      let correctTime = instance.now
      // Confirming a trusted clock requires nothing and isn't audited.
      let rows = try await instance.wholeLog().count
      #expect(try await identity.clockGuard.confirm(by: .console(olga.request(nil))).value == nil)
      #expect(try await instance.wholeLog().count == rows)
      instance.clock.advance(400 * 86_400)
      #expect(try await identity.clockGuard.check() != nil)
      let reading = try await identity.clockGuard.reading()
      #expect(
        reading.shown == instance.now && reading.stored == correctTime && reading.doubt != nil)
      let owner = try await instance.signIn(own).session
      instance.clock.advance(900)
      let agent = Agent(session: owner, device: own)
      await expect("codeRequired") {
        try await identity.clockGuard.confirm(by: .console(agent.request(nil)))
      }
      await expect("wrongCode") {
        let wrong = try own.wrongCode(at: instance.now)
        return try await identity.clockGuard.confirm(by: .console(agent.request(nil, code: wrong)))
      }
      for role in [Role.support, .policy, .auditor] {
        let other = try await instance.agent("\(role)", role: role)
        await expect("notAllowed") {
          try await identity.clockGuard.confirm(by: .console(other.request(nil)))
        }
      }
      #expect(identity.clockGuard.doubt != nil)
      let code = try own.code(at: instance.now)
      let outcome = try await identity.clockGuard.confirm(
        by: .console(agent.request(nil, code: code)))
      #expect(outcome.value == instance.now && outcome.renewed != nil)
      #expect(identity.clockGuard.doubt == nil)
      #expect(try await identity.clockGuard.check() == nil)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .instanceConfirmClock && row.actorName == "olga")
      #expect(row.old(.time) != nil && row.new(.time) == .instant(instance.now))
    }
  }

  @Test func `the doubt ends when the clock is corrected`() async throws {
    try await withInstance { (instance: Instance) async throws in
      #expect(try await watch(instance).check() == nil)
      instance.clock.advance(400 * 86_400)
      let server = watch(instance)
      #expect(try await server.check() != nil)
      instance.clock.advance(-400 * 86_400 + 10)
      #expect(try await server.check() == nil)
    }
  }

  @Test func `a clock jump while the server is running is doubted; slow drift isn't`() async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let steady = Steady()
      let server = watch(instance, steady)
      for _ in 0..<100 {
        instance.clock.advance(5)
        steady.advance(6)
        #expect(try await server.check() == nil)
      }
      for jump in [2 * 3_600, -300] as [Int64] {
        instance.clock.advance(jump)
        #expect(try await server.check()?.isBehind == (jump < 0))
        instance.clock.advance(5)
        steady.advance(5)
        #expect(try await server.check() != nil)
        instance.clock.advance(-jump)
        #expect(try await server.check() == nil)
      }
    }
  }

  @Test(arguments: [200, 3_540, -90] as [Int64])
  func `each jump is noticed, and one back to the steady clock's time is trusted at once`(
    jump: Int64
  ) async throws {
    try await withInstance { (instance: Instance) async throws in
      let steady = Steady()
      let server = watch(instance, steady)
      func pass(_ seconds: Int64, counted: Int) {
        instance.clock.advance(seconds)
        steady.advance(counted)
      }
      #expect(try await server.check() == nil)
      // A time service corrects the clock little by little.
      for _ in 0..<5 {
        pass(10, counted: 8)
        #expect(try await server.check() == nil)
        #expect(server.takeJump() == nil)
      }
      pass(jump + 1, counted: 1)
      #expect(try await server.check() == nil)
      #expect(server.takeJump() == .seconds(jump) && server.takeJump() == nil)
      #expect(server.offset == .seconds(jump + 10))
      #expect(try await server.reading().hasJumped)
      pass(600, counted: 600)
      #expect(try await server.check() == nil)
      pass(-jump - 9, counted: 1)
      #expect(try await server.check() == nil, "the steady clock explains it")
      #expect(server.takeJump() == .seconds(-jump - 10) && server.offset == .zero)
      #expect(try await !server.reading().hasJumped)
      // A jump that's doubted is one, too.
      pass(-600, counted: 0)
      #expect(try await server.check()?.isBehind == true)
      #expect(server.takeJump() == .seconds(-600))
      try await server.confirm(by: .program(Author(actor: .commandLine)))
      #expect(try await server.check() == nil)
      #expect(server.offset == .zero, "a confirmed time is where the sum begins")
    }
  }

  @Test func `an earlier confirmation doesn't end the doubt about a later jump`() async throws {
    try await withInstance { (instance: Instance) async throws in
      let steady = Steady()
      let server = watch(instance, steady)
      func pass(_ seconds: Int) {
        instance.clock.advance(Int64(seconds))
        steady.advance(seconds)
      }
      #expect(try await server.check() == nil)
      pass(10)
      // Another process, while nothing is doubted.
      try await watch(instance).confirm(by: .program(Author(actor: .commandLine)))
      pass(2)
      #expect(try await server.check() == nil)
      instance.clock.advance(2 * 86_400)
      for _ in 0..<3 {
        #expect(try await server.check() != nil)
        pass(2)
      }
      try await watch(instance).confirm(by: .program(Author(actor: .commandLine)))
      #expect(try await server.check() == nil)
    }
  }

  @Test func `a clock that differs from that of the database's server is doubted until it agrees`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let steady = Steady()
      let server = watch(instance, steady)
      for difference in [0, 120, -120] as [Int64] {
        #expect(try await server.check(databaseAhead: difference) == nil)
      }
      let correctTime = instance.now
      // Within what a start or a jump may be ahead.
      instance.clock.advance(1_800)
      for server in [server, watch(instance)] {
        let doubt = try await server.check(databaseAhead: -1_800)
        #expect(doubt?.expected == correctTime && doubt?.isByDatabase == true)
        #expect(try await server.check(databaseAhead: -1_800) != nil)
      }
      #expect(try await instance.database.read { try ClockGuard.stored($0) } == correctTime)
      instance.clock.advance(-1_800 + 10)
      #expect(try await server.check(databaseAhead: -10) == nil)
      #expect(try await server.check(databaseAhead: 121)?.isBehind == true)
      // A jump is one whatever the database's server says.
      instance.clock.advance(2 * 3_600)
      #expect(try await server.check(databaseAhead: 0)?.isByDatabase == false)
    }
  }

  @Test
  func `a clock confirmed against that of the database's server is trusted until another agrees`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let identity = instance.identity
      // A file has the clock of this machine.
      guard let difference = try await identity.databaseClockDifference() else { return }
      let right = FixedClock()
      right.advance(difference)
      instance.clock.advance(difference)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      let other = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: right.wall)
      #expect(try await identity.checkClock() == nil)
      #expect(try await other.checkClock() == nil)
      instance.clock.advance(600)
      #expect(try await identity.checkClock()?.isByDatabase == true)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      #expect(try await identity.checkClock() == nil)
      #expect(try await instance.identity().checkClock() == nil, "also after a restart")
      // The other server stores the time.
      right.advance(ClockGuard.precision)
      #expect(try await other.checkClock() == nil)
      #expect(try await identity.checkClock()?.isByDatabase == true)
    }
  }

  @Test func `a database without a stored time is checked against its newest audit entry`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      _ = try await instance.identity.pools.createProject(
        id: "new-project", displayName: "New", by: .program(Instance.boss))
      instance.clock.advance(400 * 86_400)
      #expect(try await watch(instance).check() != nil)
    }
  }

  @Test func `writes under a doubted clock don't end the doubt`() async throws {
    try await withInstance { (instance: Instance) async throws in
      let correctTime = instance.now
      instance.clock.advance(400 * 86_400)
      let server = watch(instance)
      #expect(try await server.check() != nil)
      _ = try await instance.identity.pools.createProject(
        id: "new-project", displayName: "New", by: .program(Instance.boss))
      #expect(try await server.check()?.expected == correctTime)
      #expect(try await watch(instance).check()?.expected == correctTime)
    }
  }

  @Test func `housekeeping deletes nothing while the clock is doubted`() async throws {
    try await withInstance { (instance: Instance) async throws in
      let alice = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      _ = try await instance.identity.factorRemovals.remove(
        instance.acme, alice.account.id, nil, agent.request(.lost))
      func stored() async throws -> [Int] {
        try await instance.database.read { connection in
          try connection.all(
            """
            SELECT count(*) FROM /* test */ removed_factor UNION ALL SELECT count(*) FROM outbox
            UNION ALL SELECT count(*) FROM code_attempt
            """
          ) { try $0.next() as Int }
        }
      }
      let identity = instance.identity
      #expect(try await identity.clockGuard.check() == nil)
      let before = try await stored()
      #expect(before[0] == 1 && before[1] > 0)
      instance.clock.advance(400 * 86_400)
      #expect(try await identity.clockGuard.check() != nil)
      try await identity.purgeExpired()
      #expect(try await !identity.expireCodeAttempts())
      #expect(try await stored() == before)
      try await identity.clockGuard.confirm(by: .program(Instance.boss))
      try await identity.purgeExpired()
      #expect(try await stored()[0] == 0)
    }
  }

  @Test func `V2: a code used while the clock was far ahead doesn't lock the user out`()
    async throws
  {
    try await withInstance { (instance: Instance) async throws in
      let alice = try await instance.enrolled(.alice)
      instance.clock.advance(2 * 3_600)
      _ = try await instance.finalize(
        alice, try await instance.pending(.alice), code: alice.code(at: instance.now))
      instance.clock.advance(-2 * 3_600 + 60)
      let code = try alice.code(at: instance.now)
      _ = try await instance.finalize(alice, try await instance.pending(.alice), code: code)
      await expect("invalidCode") {
        _ = try await instance.finalize(alice, try await instance.pending(.alice), code: code)
      }
      let owner = try await instance.enroll(try await instance.administrator("olga", .owner))
      instance.clock.advance(2 * 3_600)
      _ = try await instance.signIn(owner)
      instance.clock.advance(-2 * 3_600 + 60)
      _ = try await instance.signIn(owner)
    }
  }
}
