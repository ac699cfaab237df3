import Database
import Dispatch
import Synchronization
import TestDatabases
import Testing

@testable import Identity

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
