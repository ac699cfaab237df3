import Database
import DatabaseSQLite
import Glibc
import Testing

struct ReadTests {
  @Test func `a read runs immediately on the calling thread`() async throws {
    try await withDatabase { database in
      let before = pthread_self()
      let during = try await database.read { _ in pthread_self() }
      #expect(before == during)
    }
  }

  @Test func `uncommitted changes aren't visible`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      #expect(try await database.count() == 0)
      try await held.release()
      #expect(try await database.count() == 1)
    }
  }

  @Test func `reads continue during a long write`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      for _ in 0..<100 { #expect(try await database.count() == 0) }
      try await held.release()
    }
  }

  @Test func `a read sees a consistent state from start to end`() async throws {
    try await withDatabase { database in
      try await database.insert("first")
      let counts = Record<Int>()
      let held = HeldRead(database) { connection in
        let count = try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
        counts.append(count ?? -1)
      }
      await held.begun.wait()
      try await database.insert("second")
      await held.release()
      #expect(counts.elements == [1, 1])
      #expect(try await database.count() == 2)
    }
  }

  @Test func `more concurrent reads than readers all complete`() async throws {
    try await withDatabase(readers: 2) { database in
      try await database.insert("someone")
      let total = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<32 {
          group.addTask {
            var total = 0
            for _ in 0..<20 { total += try await database.count() }
            return total
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(total == 640)
      #expect(database.statistics.reads == 640)
    }
  }

  @Test func `waiting reads run in order`() async throws {
    try await withDatabase(readers: 1) { database in
      let held = HeldRead(database)
      await held.begun.wait()
      let order = Record<Int>()
      let tasks = (0..<20).map { number in
        Task.immediate {
          try await database.read { _ in order.append(number) }
        }
      }
      await held.release()
      for task in tasks { try await task.value }
      #expect(order.elements == Array(0..<20))
    }
  }

  @Test func `a read canceled while waiting leaves the queue`() async throws {
    try await withDatabase(readers: 1) { database in
      let held = HeldRead(database)
      await held.begun.wait()
      let tasks = (0..<10).map { _ in Task.immediate { try await database.count() } }
      for task in tasks[..<5] { task.cancel() }
      for task in tasks[..<5] {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      await held.release()
      for task in tasks[5...] {
        let count = try await task.value
        #expect(count == 0)
      }
    }
  }

  @Test func `closing completes running reads and refuses waiting ones`() async throws {
    try await withDatabase(readers: 1) { database in
      let held = HeldRead(database)
      await held.begun.wait()
      let waiting = Task.immediate { try await database.count() }
      let closing = Task.immediate { await database.close() }
      let failure = try await code { try await waiting.value }
      #expect(failure == .closed)
      await held.release()
      await closing.value
    }
  }

  @Test func `a closure that throws releases its reader`() async throws {
    try await withDatabase(readers: 1) { database in
      for _ in 0..<3 {
        await #expect(throws: CancellationError.self) {
          try await database.read { _ in throw CancellationError() }
        }
      }
      let count = try await database.count()
      #expect(count == 0)
    }
  }

  @Test func `a checkpoint empties the log, or reports that a read needs it`() async throws {
    try await withDatabase(readers: 2, busyTimeout: .milliseconds(20)) { database in
      try await database.insert("first")
      try await database.checkpoint()
      let held = HeldRead(database) { connection in
        _ = try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
      }
      await held.begun.wait()
      try await database.insert("second")
      #expect(try await code { try await database.checkpoint() } == .busy)
      await held.release()
      try await database.checkpoint()
      #expect(try await database.count() == 2)
    }
  }
}
