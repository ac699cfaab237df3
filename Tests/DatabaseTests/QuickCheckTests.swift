import Database
import DatabaseSQLite
import Foundation
import Testing

struct QuickCheckTests {
  /// Creates a database with some hundred pages.
  private func fill(_ path: String) async throws {
    let database = try SQLiteDatabase(path: path, readers: 1)
    try await database.write { connection in
      try connection.runScript("CREATE TABLE a (x TEXT NOT NULL) STRICT")
      for _ in 0..<2_000 {
        try connection.run("INSERT INTO a VALUES (\(String(repeating: "x", count: 900)))")
      }
    }
    try await database.checkpoint()
    await database.close()
  }

  @Test func `an intact database has no faults`() async throws {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      try await fill(path)
      let database = try SQLiteDatabase(path: path, readers: 1)
      let faults = try await database.quickCheck(most: 5, limit: .seconds(60))
      await database.close()
      #expect(faults == [])
    }
  }

  @Test func `a damaged database has some of its faults reported`() async throws {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      try await fill(path)
      let file = try #require(FileHandle(forUpdatingAtPath: path))
      for page in 100..<120 {
        try file.seek(toOffset: UInt64(page * 4096))
        try file.write(contentsOf: Data(repeating: 0xa5, count: 4096))
      }
      try file.close()
      let database = try ReadOnlySQLiteDatabase(path: path)
      let faults = try await database.quickCheck(most: 3)
      await database.close()
      #expect((1...3).contains(faults.count))
    }
  }

  @Test func `a check without time is abandoned`() async throws {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      try await fill(path)
      let database = try SQLiteDatabase(path: path, readers: 1)
      let faults = try await database.quickCheck(most: 5, limit: .seconds(-1))
      await database.close()
      #expect(faults == nil)
    }
  }

  @Test func `a check whose task is canceled is abandoned`() async throws {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      try await fill(path)
      let database = try SQLiteDatabase(path: path, readers: 1)
      let check = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await database.quickCheck(most: 5, limit: .seconds(60))
      }
      check.cancel()
      let faults = try await check.value
      await database.close()
      #expect(faults == nil)
    }
  }
}
