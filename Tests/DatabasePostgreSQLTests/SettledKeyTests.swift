import Database
import DatabasePostgreSQL
import Dispatch
import TestDatabases
import Testing

/// The keys up to which rows are settled while writes are concurrent.
@Suite(.timeLimit(.minutes(2)))
struct SettledKeyTests {
  @Test func `every key of a file is settled`() async throws {
    try await withDatabase(.sqlite) { database in
      let key = try await database.settledKey("id", of: "person")
      #expect(key == .max)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `no key is settled in an empty table, then the last one is`() async throws {
    try await withPostgreSQL { database in
      let first = try await database.settledKey("id", of: "person")
      #expect(first == 0)
      try await database.insert("first")
      try await database.insert("second")
      let last = try await database.settledKey("id", of: "person")
      #expect(last == 2)
    }
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled))
  func `a key isn't settled while a write with a lower one is in progress`() async throws {
    try await withPostgreSQL { database in
      let (begun, gate) = (Event(), DispatchSemaphore(value: 0))
      let write = Task {
        try await database.write { connection in
          try connection.run("INSERT INTO person (name) VALUES ('first')")
          begun.happen()
          gate.wait()
        }
      }
      await begun.wait()
      try await database.insert("second")
      let during = try await database.settledKey("id", of: "person")
      gate.signal()
      try await write.value
      let after = try await database.settledKey("id", of: "person")
      #expect(during == nil && after == 2)
    }
  }
}
