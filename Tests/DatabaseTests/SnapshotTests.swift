import Database
import DatabaseSQLite
import Dispatch
import TestDatabases
import Testing

/// Tests for several reads of one snapshot.
struct SnapshotTests {
  @Test func `concurrent reads in a snapshot use separate readers`() async throws {
    try await withDatabase(readers: 2) { database in
      let sum = try await database.snapshot {
        let begun = Event()
        let gate = DispatchSemaphore(value: 0)
        let concurrent = Task {
          try await database.read { _ in
            begun.happen()
            gate.wait()
          }
        }
        await begun.wait()
        let count = try await database.count()
        gate.signal()
        try await concurrent.value
        return count
      }
      #expect(sum == 0)
    }
  }
}
