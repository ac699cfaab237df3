import Database
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import DatabaseSQLite

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

  @Test(arguments: [QuickCheckStep.ready, .begun])
  func `a check whose task is canceled is abandoned at once`(moment: QuickCheckStep) async throws {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      try await fill(path)
      let database = try SQLiteDatabase(path: path, readers: 1)
      let steps = Mutex<[QuickCheckStep]>([])
      let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
      let isCanceled = DispatchSemaphore(value: 0)
      let check = Task {
        defer { arrival.finish() }
        return try await database.quickCheck(most: 5, limit: .seconds(60)) { step in
          steps.withLock { $0.append(step) }
          guard step == moment else { return }
          arrival.finish()
          isCanceled.wait()
        }
      }
      for await _ in arrived {}
      check.cancel()
      isCanceled.signal()
      let faults = try await check.value
      await database.close()
      #expect(faults == nil)
      // A check that continues is asked at least once.
      #expect(steps.withLock { $0 } == [.ready, .begun])
    }
  }
}
