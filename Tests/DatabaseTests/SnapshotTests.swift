import Database
import DatabaseSQLite
import Dispatch
import Testing

/// Tests for several reads of one snapshot.
struct SnapshotTests {
  @Test func `all reads of a snapshot see the state of the first`() async throws {
    try await withDatabase { database in
      try await database.insert("first")
      try await database.snapshot {
        #expect(try await database.count() == 1)
        try await database.insert("second")
        #expect(try await database.count() == 1)
      }
      #expect(try await database.count() == 2)
    }
  }

  @Test func `a snapshot starts with its first read`() async throws {
    try await withDatabase { database in
      try await database.snapshot {
        try await database.insert("first")
        #expect(try await database.count() == 1)
      }
    }
  }

  @Test func `a snapshot uses one reader for any number of reads`() async throws {
    try await withDatabase(readers: 1) { database in
      try await database.snapshot {
        for _ in 0..<50 {
          let count = try await database.count()
          #expect(count == 0)
        }
      }
      #expect(try await database.count() == 0)
    }
  }

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

  @Test func `a failed read doesn't end the snapshot`() async throws {
    struct Failed: Error {}
    try await withDatabase(readers: 1) { database in
      try await database.insert("first")
      try await database.snapshot {
        #expect(try await database.count() == 1)
        await #expect(throws: Failed.self) {
          try await database.read { _ in throw Failed() }
        }
        try await database.insert("second")
        #expect(try await database.count() == 1)
      }
      #expect(try await database.count() == 2)
    }
  }

  @Test func `a snapshot doesn't affect other databases`() async throws {
    try await withDatabase { one in
      try await withDatabase { other in
        try await one.snapshot {
          #expect(try await one.count() == 0)
          #expect(try await other.count() == 0)
          try await other.insert("first")
          #expect(try await other.count() == 1)
        }
      }
    }
  }
}
