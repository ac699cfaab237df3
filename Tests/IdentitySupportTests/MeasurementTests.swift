import Database
import Synchronization
import Testing

@testable import Identity
@testable import TestIdentity

struct MeasurementTests {
  @Test func `an instance knows when it was created`() async throws {
    try await withInstance { instance in
      let created = try #require(try await instance.identity.creationTime())
      #expect(created.milliseconds == instance.now.milliseconds)
    }
  }

  @Test func `waiting emails are measured until they're sent, with the oldest`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let none = try await identity.measurements()
      #expect(none.queuedMail == 0 && none.oldestMail == nil)
      let created = instance.now
      try await instance.write(.mail)
      instance.clock.advance(600)
      try await instance.write(.mail)
      try await instance.write(.sms)
      let two = try await identity.measurements()
      #expect(two.queuedMail == 2 && two.oldestMail == created)
      // Without a gateway, text messages don't wait to be sent.
      #expect(two.queuedTextMessages == 0 && two.oldestTextMessage == nil)
      let now = instance.now
      let withGateway = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone, hasher: .cheap,
        mail: TestMail.writer, clock: instance.clock.wall, carriesText: true)
      try await instance.write(.sms, on: withGateway)
      let three = try await identity.measurements()
      #expect(three.queuedTextMessages == 1 && three.oldestTextMessage == now)
      #expect(three.queuedMail == 2)
      // A retry in the future doesn't make it younger.
      let first = try #require(try await instance.claim())
      try await identity.deliveries.record(.postponed("451 Later"), of: first)
      #expect(try await identity.deliveries.oldest() == created)
      let second = try #require(try await instance.claim())
      try await identity.deliveries.record(.sent, of: second)
      let one = try await identity.measurements()
      #expect(one.queuedMail == 1 && one.oldestMail == created)
    }
  }

  @Test func `open sessions of administrators are measured`() async throws {
    try await withInstance { instance in
      let before = try await instance.identity.measurements()
      _ = try await instance.agent("sam", role: .support)
      let after = try await instance.identity.measurements()
      #expect(after.consoleSessions == before.consoleSessions + 1)
      instance.clock.advance(SessionLimits.standard.lifetime + 1)
      let later = try await instance.identity.measurements()
      #expect(later.consoleSessions == 0)
    }
  }

  @Test func `V10: a clock that jumps has an offset`() async throws {
    try await withInstance { instance in
      let passed = Mutex(Duration.zero)
      let guardian = ClockGuard(
        store: instance.identity.store, steady: { passed.withLock { $0 } })
      _ = try await guardian.check()
      passed.withLock { $0 += .seconds(10) }
      instance.clock.advance(40)
      _ = try await guardian.check()
      #expect(guardian.offset == .seconds(30))
      passed.withLock { $0 += .seconds(10) }
      instance.clock.advance(10)
      _ = try await guardian.check()
      #expect(guardian.offset == .seconds(30), "it's the sum since the start")
      instance.clock.advance(-30)
      _ = try await guardian.check()
      #expect(guardian.offset == .zero)
    }
  }

  @Test func `tasks that no server does are measured from when the last one ended`() async throws {
    try await withInstance { instance in
      let (lease, other) = (instance.identity.taskLease, try instance.identity().taskLease)
      try await lease.renew()
      #expect(try await other.unheldSince() == nil)
      // A file has one server.
      let isShared = instance.database.dialect.sharesDatabase
      let end = instance.now.advanced(bySeconds: TaskLease.length)
      instance.clock.advance(TaskLease.longestGap)
      #expect(try await other.unheldSince() == (isShared ? end : nil))
      #expect(try await instance.identity.measurements().tasksUnheldSince == (isShared ? end : nil))
      try await other.renew()
      #expect(other.isHeld)
      #expect(try await lease.unheldSince() == nil)
      try await other.release()
      #expect(try await lease.unheldSince() == (isShared ? instance.now : nil))
      // Released, it's free at once.
      try await lease.renew()
      #expect(lease.isHeld)
      #expect(try await other.unheldSince() == nil)
    }
  }

  @Test func `work in batches leaves two thirds of the time to others`() async throws {
    #expect(Pacer.rest(after: .zero) == .milliseconds(5))
    #expect(Pacer.rest(after: .milliseconds(400)) == .milliseconds(800))
    var runs = 0
    let isMore = try await Pacer().run {
      runs += 1
      return runs < 3
    }
    #expect(runs == 3 && !isMore)
  }

  /// How many batches run, and ran at once at most.
  private final class Turns: Sendable {
    private let counts = Mutex((running: 0, most: 0, all: 0))

    var result: [Int] { counts.withLock { [$0.running, $0.most, $0.all] } }

    func begin() {
      counts.withLock { counts in
        counts.running += 1
        counts.most = max(counts.most, counts.running)
        counts.all += 1
      }
    }

    func end() { counts.withLock { $0.running -= 1 } }
  }

  @Test func `batches of several tasks take turns, also after one that failed`() async throws {
    let (pacer, turns) = (Pacer(), Turns())
    struct Failed: Error {}
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var left = 3
          _ = try? await pacer.run {
            turns.begin()
            await Task.yield()
            turns.end()
            left -= 1
            if task == 0 { throw Failed() }
            return left > 0
          }
        }
      }
    }
    #expect(turns.result == [0, 1, 10])
  }

  @Test func `the time without a server isn't an offset, but a doubted clock has one`()
    async throws
  {
    try await withInstance { instance in
      let store = instance.identity.store
      _ = try await ClockGuard(store: store, steady: { .zero }).check()
      instance.clock.advance(3_600)
      let trusting = ClockGuard(store: store, steady: { .zero })
      _ = try await trusting.check()
      #expect(trusting.offset == .zero)
      instance.clock.advance(30 * 86_400)
      let doubting = ClockGuard(store: store, steady: { .zero })
      _ = try await doubting.check()
      #expect(doubting.offset == .seconds(30 * 86_400))
    }
  }
}
