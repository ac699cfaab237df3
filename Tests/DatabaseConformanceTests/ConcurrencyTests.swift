import Database
import TestDatabases
import Testing

/// Snapshots, waiting, and closing, whatever the database is.
@Suite(.timeLimit(.minutes(2)))
struct ConcurrencyTests {
  @Test(arguments: Engine.available)
  func `a read sees a consistent state from start to end`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
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

  @Test(arguments: Engine.available)
  func `all reads of a snapshot see the state of the first`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.snapshot {
        try await database.insert("first")
        #expect(try await database.count() == 1)
        try await database.insert("second")
        #expect(try await database.count() == 1)
      }
      #expect(try await database.count() == 2)
    }
  }

  @Test(arguments: Engine.available)
  func `a snapshot uses one reader for any number of reads`(engine: Engine) async throws {
    try await withDatabase(engine, readers: 1) { database in
      for _ in 0..<3 {
        try await database.snapshot {
          for _ in 0..<50 {
            let count = try await database.count()
            #expect(count == 0)
          }
        }
      }
      #expect(try await database.count() == 0)
    }
  }

  @Test(arguments: Engine.available)
  func `a failed read doesn't end the snapshot`(engine: Engine) async throws {
    struct Failed: Error {}
    try await withDatabase(engine, readers: 1) { database in
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

  @Test(arguments: Engine.available)
  func `a read after one that the database refused works, in a snapshot too`(engine: Engine)
    async throws
  {
    try await withDatabase(engine, readers: 1) { database in
      try await database.snapshot {
        let failure = try await code {
          try await database.read { try $0.run("SELECT * FROM nothing") }
        }
        #expect(failure != nil)
        #expect(try await database.count() == 0)
      }
    }
  }

  @Test(arguments: Engine.available)
  func `child tasks of a snapshot read its state too`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.snapshot {
        #expect(try await database.count() == 0)
        try await database.insert("first")
        async let one = database.count()
        async let other = database.count()
        // With SQLite, only one of them gets the snapshot's connection at a time.
        let counts = try await [one, other]
        if engine == .postgreSQL { #expect(counts == [0, 0]) }
      }
      #expect(try await database.count() == 1)
    }
  }

  @Test(arguments: Engine.available)
  func `a task that outlives its snapshot reads the present`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let ended = Event()
      let late = await database.snapshot {
        Task {
          await ended.wait()
          return try await database.count()
        }
      }
      try await database.insert("first")
      ended.happen()
      #expect(try await late.value == 1)
    }
  }

  @Test(arguments: Engine.available)
  func `a snapshot doesn't affect other databases`(engine: Engine) async throws {
    try await withDatabase(engine) { one in
      try await withDatabase(engine) { other in
        try await one.snapshot {
          #expect(try await one.count() == 0)
          #expect(try await other.count() == 0)
          try await other.insert("first")
          #expect(try await other.count() == 1)
        }
      }
    }
  }

  @Test(arguments: Engine.available)
  func `more concurrent reads than readers all complete`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.insert("someone")
      let before = database.statistics.reads
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
      #expect(database.statistics.reads - before == 640)
    }
  }

  @Test(arguments: Engine.available)
  func `waiting reads run in order`(engine: Engine) async throws {
    try await withDatabase(engine, readers: 1) { database in
      let held = HeldRead(database)
      await held.begun.wait()
      let order = Record<Int>()
      let tasks = (0..<20).map { number in
        Task.immediate { try await database.read { _ in order.append(number) } }
      }
      await held.release()
      for task in tasks { try await task.value }
      #expect(order.elements == Array(0..<20))
    }
  }

  @Test(arguments: Engine.available)
  func `a read canceled while waiting leaves the queue`(engine: Engine) async throws {
    try await withDatabase(engine, readers: 1) { database in
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

  @Test(arguments: Engine.available)
  func `closing completes running reads and refuses waiting ones`(engine: Engine) async throws {
    try await withDatabase(engine, readers: 1) { database in
      let held = HeldRead(database)
      await held.begun.wait()
      let waiting = Task.immediate { try await database.count() }
      let closing = Task.immediate { await close(database) }
      let failure = try await code { try await waiting.value }
      #expect(failure == .closed)
      await held.release()
      await closing.value
      #expect(try await code { try await database.insert("late") } == .closed)
    }
  }
}
