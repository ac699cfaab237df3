import Database
import DatabaseSQLite
import Glibc
import TestDatabases
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
