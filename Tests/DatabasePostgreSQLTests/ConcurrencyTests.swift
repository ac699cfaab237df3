import Database
import DatabasePostgreSQL
import Dispatch
import Glibc
import TestDatabases
import Testing

/// Snapshots, waiting, and closing, whatever the database is.
@Suite(.timeLimit(.minutes(2)))
struct ConcurrencyTests {
  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a snapshot's task runs on the thread of its connection`() async throws {
    try await withPostgreSQL(readers: 1) { database in
      try await database.snapshot {
        for _ in 0..<10 {
          let thread = pthread_self()
          let reader = try await database.read { _ in pthread_self() }
          #expect(thread == reader)
        }
      }
      let state = try await database.snapshot { try await database.count() }
      #expect(state == 0)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `without a connection, the reads of a snapshot fail, and its task runs`() async throws {
    try await withPostgreSQL(readers: 1, waiting: 0) { database in
      let held = HeldRead(database) { _ in }
      await held.begun.wait()
      let failure = try await database.snapshot {
        let first = try await code { _ = try await database.count() }
        await held.release()
        let second = try await code { _ = try await database.count() }
        #expect(first == second)
        return second
      }
      #expect(failure == .busy)
      // A connection is free only a moment after its read has returned.
      var next: DatabaseError.Code? = .busy
      while next == .busy { next = try await code { _ = try await database.count() } }
      #expect(next == nil)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(1)))
  func `writes beyond the limit are refused immediately`() async throws {
    try await withPostgreSQL(writers: 1, waiting: 2) { database in
      let (begun, gate) = (Event(), DispatchSemaphore(value: 0))
      let held = Task {
        try await database.write { _ in
          begun.happen()
          gate.wait()
        }
      }
      await begun.wait()
      let tasks = (0..<2).map { number in
        Task.immediate { try await database.insert("\(number)") }
      }
      #expect(try await code { try await database.insert("one too many") } == .busy)
      tasks[1].cancel()
      await #expect(throws: CancellationError.self) { try await tasks[1].value }
      gate.signal()
      try await held.value
      try await tasks[0].value
      #expect(try await database.names() == ["0"])
    }
  }
}
