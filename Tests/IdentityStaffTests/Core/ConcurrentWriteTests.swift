import Database
import Dispatch
import Synchronization
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Writes of several servers at the same time, of which SQLite has only one.
@Suite(.enabled(if: !TestDatabase.isSQLite)) struct ConcurrentWriteTests {
  @Test func `code attempts of two users of a pool don't conflict`() async throws {
    try await withInstance { instance in
      let pool = instance.acme.key
      let runs = try await Meeting.writes(instance.database) { number, connection in
        let user = pool << 40 + Int64(1_000 + number)
        try ActivityDelta(account: user, hour: 0, .attempt(.incorrect)).insert(
          in: pool, connection)
      }
      #expect(runs == 2)
      let attempts = try await instance.database.read { connection in
        try ActivityDelta.all(in: pool, connection).count(where: { $0.hour == 0 })
      }
      #expect(attempts == 2)
    }
  }

  @Test func `a deleted pool gets no accounts`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice, in: instance.east)
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      await #expect(throws: CallError.self) {
        try await instance.account(.bob, in: instance.east)
      }
    }
  }

  @Test func `an entry that is stored after one with a larger number is found and sealed`()
    async throws
  {
    try await withInstance { instance in
      try await instance.writeEntries(3)
      try await instance.sealAll()
      let (began, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let (database, now, acme) = (instance.database, instance.now, instance.acme)
      async let slow: Void = database.write { connection in
        try AuditEntry(.accountChange, .account, "late", name: "Late", in: acme)
          .record(by: Instance.support, at: now, connection)
        began.signal()
        ends.wait()
      }
      await Task.detached { began.wait() }.value
      try await instance.writeEntries(1)
      #expect(try await !instance.chain.seal())
      _ = try await instance.identity.audit.file()
      ends.signal()
      try await slow
      while try await instance.identity.audit.file() {}
      let filter = AuditFilter(pool: acme, object: .account, objectID: "late")
      #expect(try await instance.identity.audit.list(filter).items.map(\.objectName) == ["Late"])
      try await instance.sealAll()
      #expect(try await instance.chain.verify().faults == [])
      let links = try await instance.links()
      #expect(links.map(\.sequence) == Array(1...Int64(links.count)))
    }
  }
}

/// Two writes that are open at the same time.
final class Meeting: Sendable {
  private let arrivals = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
  private let runs = Mutex([0, 0])

  /// Runs a body in two transactions, neither of which ends before both have run it.
  ///
  /// - Returns: The number of runs; 2 if the writes don't conflict.
  static func writes(
    _ database: any Database,
    _ body: @escaping @Sendable (_ number: Int, borrowing Connection) throws -> Void
  ) async throws -> Int {
    let meeting = Meeting()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<2 {
        group.addTask {
          try await database.write { connection in
            try body(number, connection)
            meeting.arrive(number)
          }
        }
      }
      try await group.waitForAll()
    }
    return meeting.runs.withLock { $0.reduce(0, +) }
  }

  /// Waits for the other write in the first run; for ten seconds, since it may wait for this one.
  private func arrive(_ number: Int) {
    let isFirst = runs.withLock { runs in
      runs[number] += 1
      return runs[number] == 1
    }
    guard isFirst else { return }
    arrivals[1 - number].signal()
    _ = arrivals[number].wait(timeout: .now() + 10)
  }
}
