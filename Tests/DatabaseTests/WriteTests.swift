import Database
import DatabaseSQLite
import TestDatabases
import Testing

struct WriteTests {
  struct Refusal: Error {}

  @Test func `a closure that throws rolls back only its own changes`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<64).map { number in
        Task.immediate {
          try await database.write { connection in
            try connection.run("INSERT INTO person (name) VALUES (\("person \(number)"))")
            if number == 31 { throw Refusal() }
          }
        }
      }
      try await held.release()
      for (number, task) in tasks.enumerated() {
        if number == 31 {
          await #expect(throws: Refusal.self) { try await task.value }
        } else {
          try await task.value
        }
      }
      #expect(try await database.count() == 64)
      #expect(try await !database.names().contains("person 31"))
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `waiting writes share a commit`() async throws {
    try await withDatabase { database in
      let before = database.statistics
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<100).map { number in
        Task.immediate { try await database.insert("person \(number)") }
      }
      while database.statistics.waitingWrites < 100 { await Task.yield() }
      try await held.release()
      for task in tasks { try await task.value }
      let after = database.statistics
      #expect(after.writes - before.writes == 101)
      // A group ends after 20 ms, so a busy machine has more of them.
      #expect(after.commits - before.commits <= 25)
      #expect(after.largestGroup >= 8)
      #expect(after.groups.reduce(0, +) == after.commits)
      #expect(after.groups.suffix(6).contains { $0 > 0 })
      #expect(try await database.count() == 101)
    }
  }

  @Test func `writes take effect in the order they were queued`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<300).map { number in
        Task.immediate { try await database.insert("\(number)") }
      }
      try await held.release()
      for task in tasks { try await task.value }
      let names = try await database.read { connection in
        try connection.all("SELECT name FROM person ORDER BY id") { try $0.next() as String }
      }
      #expect(names == ["held"] + (0..<300).map(String.init))
    }
  }

  @Test func `other writes are stored even if SQLite rolls back the whole transaction`()
    async throws
  {
    try await withDatabase { database in
      try await database.insert("taken")
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<20).map { number in
        Task.immediate {
          try await database.write { connection in
            if number == 10 {
              try connection.run("INSERT OR ROLLBACK INTO person (name) VALUES ('taken')")
            } else {
              try connection.run("INSERT INTO person (name) VALUES (\("person \(number)"))")
            }
          }
        }
      }
      try await held.release()
      for (number, task) in tasks.enumerated() {
        let failure = try await code { try await task.value }
        #expect(failure == (number == 10 ? .uniqueViolation("person.name") : nil))
      }
      #expect(try await database.count() == 21)
    }
  }

  @Test func `a closure that ignores a rollback still fails`()
    async throws
  {
    try await withDatabase { database in
      try await database.insert("taken")
      let failure = try await code {
        try await database.write { connection in
          _ = try? connection.run("INSERT OR ROLLBACK INTO person (name) VALUES ('taken')")
          // Outside of the transaction, this would be committed on its own.
          _ = try? connection.run("INSERT INTO person (name) VALUES ('stray')")
        }
      }
      #expect(failure == .uniqueViolation("person.name"))
      #expect(try await database.names() == ["taken"])
    }
  }

  @Test func `a commit error of one write doesn't fail its group`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<10).map { number in
        Task.immediate {
          try await database.write { connection in
            // The missing reference is detected when the transaction ends.
            let owner = number == 5 ? 99 : 1
            try connection.run(
              "INSERT INTO pet (owner, name) VALUES (\(owner), \("pet \(number)"))")
          }
        }
      }
      try await held.release()
      for (number, task) in tasks.enumerated() {
        let failure = try await code { try await task.value }
        #expect(failure == (number == 5 ? .foreignKey : nil))
      }
      let pets = try await database.read { connection in
        try connection.first("SELECT count(*) FROM pet") { try $0.next() as Int }
      }
      #expect(pets == 9)
    }
  }

  @Test func `an error has the SQL text without the values`() async throws {
    try await withDatabase { database in
      let error = try await #require(throws: DatabaseError.self) {
        try await database.write { connection in
          for _ in 0..<2 {
            try connection.run("INSERT INTO person (name) VALUES (\("a secret"))")
          }
        }
      }
      #expect(error.sql == "INSERT INTO person (name) VALUES ($1)")
      #expect(error.extendedCode == 2067)
      #expect(!"\(error)".contains("secret"))
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `writes beyond the queue limit are refused immediately`() async throws {
    try await withDatabase(waitingWrites: 4) { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<4).map { number in
        Task.immediate { try await database.insert("\(number)") }
      }
      let failure = try await code { try await database.insert("one too many") }
      #expect(failure == .busy)
      try await held.release()
      for task in tasks { try await task.value }
      try await database.insert("later")
      #expect(try await database.count() == 6)
    }
  }

  @Test func `a write canceled while waiting has no effect`() async throws {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<30).map { number in
        Task.immediate { try await database.insert("\(number)") }
      }
      for task in tasks[10..<20] { task.cancel() }
      for task in tasks[10..<20] {
        // The caller gets a result even though the writer is blocked.
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      try await held.release()
      for task in tasks[..<10] + tasks[20...] { try await task.value }
      #expect(try await database.count() == 21)
    }
  }

  @Test func `a write canceled after it started is completed`()
    async throws
  {
    try await withDatabase { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      held.task.cancel()
      try await held.release()
      #expect(try await database.names() == ["held"])
    }
  }

  @Test func `close completes queued writes and refuses later ones`() async throws {
    try await withFolder { folder in
      let path = folder + "/test.sqlite"
      let database = try SQLiteDatabase(path: path)
      try await database.write { try $0.runScript("CREATE TABLE person (id, name)") }
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<50).map { number in
        Task.immediate { try await database.insert("\(number)") }
      }
      let closing = Task.immediate { await database.close() }
      #expect(try await code { try await database.insert("late") } == .closed)
      try await held.release()
      for task in tasks { try await task.value }
      await closing.value
      await database.close()
      #expect(try await code { try await database.count() } == .closed)
      let again = try SQLiteDatabase(path: path)
      #expect(try await again.count() == 51)
      await again.close()
    }
  }
}
