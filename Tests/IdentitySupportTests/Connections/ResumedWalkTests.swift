import Database
import JSON
import Synchronization
import TestDatabases
import Testing

@testable import Identity
@testable import IdentityToolkitClient
@testable import TestIdentity

/// A database whose writes fail after a number of them.
struct FailingWrites: Database {
  struct Stopped: Error {}

  let base: any Database
  private let left = Left()

  private final class Left: Sendable {
    let count = Mutex<Int?>(nil)
  }

  init(_ base: any Database) { self.base = base }

  /// Lets a number of writes pass, and no more; nil lets all pass.
  func allow(_ count: Int?) { left.count.withLock { $0 = count } }

  func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    let isAllowed = left.count.withLock { left in
      guard let count = left else { return true }
      left = max(count - 1, 0)
      return count > 0
    }
    guard isAllowed else { throw Stopped() }
    return try await base.write(body)
  }

  var dialect: Dialect { base.dialect }
  var statistics: DatabaseStatistics { base.statistics }

  func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T { try await base.read(body) }

  func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T { try await base.snapshot(body) }

  func checkpoint() async throws { try await base.checkpoint() }

  func compact(atMost bytes: Int) async throws { try await base.compact(atMost: bytes) }

  func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? { try await base.settledKey(column, of: table) }
}

@Suite struct ResumedWalkTests {
  @Test func `a walk that was stopped at any write goes on, and ends like one that wasn't`()
    async throws
  {
    var writes: FailingWrites?
    try await withInstance(on: { base in
      let database = FailingWrites(base)
      writes = database
      return database
    }) { instance in
      let (remote, database) = (instance.remote, try #require(writes))
      remote.behavior.pageSize = 70
      add(230, to: remote)
      let pool = try await instance.connect()
      var stops = 0
      for allowed in 1..<40 {
        database.allow(allowed)
        instance.clock.advance(301)
        let known = try await instance.connection(pool)
        do {
          _ = try await instance.identity.connections.sync(known) { true }
          database.allow(nil)
          if try await instance.mirror(pool).firstAt != nil { break }
        } catch is FailingWrites.Stopped { stops += 1 }
        database.allow(nil)
      }
      #expect(stops > 2)
      try await instance.sync(pool)
      #expect(try await instance.mirrored(pool).count == 230)
      #expect(try await instance.mirrored(pool).allSatisfy { $0.goneAt == nil })
      #expect(try await instance.connection(pool).state == .working)
      #expect(try await instance.log(pool).count { $0.action == .connectionWalk } == 1)
    }
  }

  @Test func `of two servers that walk at once, one goes on`() async throws {
    try await withInstance { instance in
      let remote = instance.remote
      remote.behavior.pageSize = 50
      add(300, to: remote)
      let pool = try await instance.connect()
      instance.clock.advance(301)
      let known = try await instance.connection(pool)
      let other = try instance.identity()
      remote.behavior.afterward = { address in
        // The first server waits for a page while the other one walks.
        guard address.contains("batchGet") else { return }
        remote.behavior.afterward = nil
        _ = try await other.connections.sync(known) { true }
      }
      _ = try await instance.identity.connections.sync(known) { true }
      #expect(try await instance.mirrored(pool).count == 300)
      #expect(try await instance.mirrored(pool).allSatisfy { $0.goneAt == nil })
      #expect(try await instance.log(pool).count { $0.action == .connectionWalk } == 1)
      #expect(try await instance.connection(pool).state == .working)
    }
  }

  @Test func `a walk stops when its connection is paused, and goes on when it's resumed`()
    async throws
  {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      remote.behavior.pageSize = 50
      add(300, to: remote)
      let pool = try await instance.connect()
      remote.behavior.afterward = { address in
        guard address.contains("nextPageToken=\(numbered(99))") else { return }
        remote.behavior.afterward = nil
        _ = try await connections.pause(pool, by: Instance.program)
      }
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count == 100)
      #expect(try await instance.connection(pool).state == .paused)
      await expect("nothingToDo") { try await connections.pause(pool, by: Instance.program) }
      await expect("paused") { try await connections.sync(pool, by: Instance.program) }
      _ = try await connections.resume(pool, by: Instance.program)
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count == 300)
    }
  }

  @Test func `a walk stops when its credential is replaced, and goes on with the new one`()
    async throws
  {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      remote.behavior.pageSize = 50
      add(300, to: remote)
      let pool = try await instance.connect()
      let new = try await instance.newConnection(token: "cst_second")
      remote.behavior.afterward = { address in
        guard address.contains("nextPageToken=\(numbered(99))") else { return }
        remote.behavior.afterward = nil
        _ = try await connections.replace(in: pool, by: new, by: Instance.program)
      }
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count == 100)
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count == 300)
    }
  }

  @Test func `what was read while the clock was ahead is read again`() async throws {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      add(2, to: remote)
      let pool = try await instance.connect()
      instance.clock.advance(400 * 86_400)
      try await instance.sync(pool)
      instance.clock.advance(-400 * 86_400)
      remote.set(TestRemote.user(numbered(0), ["displayName": "New"]))
      remote.remove(numbered(1))
      remote.behavior.mfa = ["state": "DISABLED"]
      #expect(try await connections.due().map(\.project) == [pool.project])
      #expect(try await instance.sync(pool) == nil)
      let users = try await instance.mirrored(pool)
      #expect(users[0].displayName == "New" && users[1].goneAt == instance.now)
      let policy = try await instance.identity.policies.read(pool)
      #expect(policy.configuration.state == .disabled)
      #expect(try await connections.due().isEmpty)
    }
  }

  @Test func `a walk that stopped an hour ago begins anew`() async throws {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      remote.behavior.pageSize = 10
      add(200, to: remote, from: 100)
      let pool = try await instance.connect()
      remote.behavior.afterward = { address in
        guard address.contains("nextPageToken=\(numbered(249))") else { return }
        remote.behavior.afterward = nil
        _ = try await connections.pause(pool, by: Instance.program)
      }
      #expect(try await instance.sync(pool) == nil)
      let stopped = try await instance.mirror(pool)
      #expect(stopped.startedAt != nil && stopped.position == numbered(199) && stopped.read == 100)
      // They come before where it stopped.
      add(60, to: remote)
      instance.clock.advance(3_600)
      _ = try await connections.resume(pool, by: Instance.program)
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.mirrored(pool).count == 260)
      #expect(try await instance.mirror(pool).walk == stopped.walk + 1)
    }
  }

  @Test func `reading everything now isn't forgotten while a walk is under way`() async throws {
    try await withInstance { instance in
      let (remote, connections) = (instance.remote, instance.identity.connections)
      add(20, to: remote)
      let pool = try await instance.connect()
      remote.behavior.afterward = { address in
        guard address.contains("batchGet") else { return }
        remote.behavior.afterward = nil
        instance.clock.advance(1)
        _ = try await connections.sync(pool, by: Instance.program)
      }
      #expect(try await instance.sync(pool) == nil)
      #expect(try await connections.due().count == 1)
    }
  }

  @Test func `an old answer never overwrites a newer one, in any order`() async throws {
    for order in 0..<6 {
      try await withInstance { instance in
        let remote = instance.remote
        remote.set(TestRemote.user("a"))
        let pool = try await instance.connect()
        try await instance.sync(pool)
        let key = try #require(try await instance.mirrored(pool).first).key
        // Three answers, by when they were asked for.
        let names = ["one", "two", "three"]
        let permutation = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order]
        let (start, author) = (instance.now, Author(actor: .remote("Google")))
        for index in permutation {
          let json: JSON = .object(TestRemote.user("a", ["displayName": .string(names[index])]))
          let user = MirroredUser(RemoteUser(json))
          let batch = MirrorBatch(
            pool: pool, author: author, askedAt: start.advanced(bySeconds: Int64(index + 1)),
            isRecorded: true, now: start.advanced(bySeconds: 10))
          _ = try await instance.identity.store.write { try batch.update(key, to: user, $0) }
        }
        #expect(try await instance.mirrored(pool).first?.displayName == "three")
      }
    }
  }
}
