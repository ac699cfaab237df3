import Database
import DatabasePostgreSQL
import Metrics
import TestDatabases
import Testing

/// What takes long is told, and the use of the connections is measured.
@Suite(.enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(2)))
struct SlowUseTests {
  private func statements(_ told: Record<SlowUse>) -> Set<String> {
    Set(
      told.elements.compactMap { use in
        guard case .statement(let text, let duration, _) = use, duration >= .seconds(1) else {
          return nil
        }
        return text
      })
  }

  private func waits(_ told: Record<SlowUse>) -> [SlowUse.Kind] {
    told.elements.compactMap { use in
      guard case .wait(let kind, let duration) = use, duration >= .seconds(1) else { return nil }
      return kind
    }
  }

  @Test func `a statement that takes a second is told on one line without its values`() async throws
  {
    try await withPostgreSQL { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      try await database.read { connection in
        _ = try connection.first("SELECT 1\n  FROM pg_sleep(\(1.1))") { _ in }
      }
      #expect(statements(told) == ["SELECT 1 FROM pg_sleep($1)"])
    }
  }

  @Test func `statements that are sent with the commit are told together`() async throws {
    try await withPostgreSQL { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      try await database.write { try $0.runLater("SELECT pg_sleep(\(1.1))") }
      #expect(statements(told) == ["SELECT pg_sleep($1); COMMIT"])
    }
  }

  @Test func `a statement that waits for a lock is told, although it fails`() async throws {
    try await withPostgreSQL(statementTimeout: .seconds(1.5)) { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      let (locked, ended) = (Event(), Event())
      async let lock: Void = database.transaction { transaction in
        try await transaction.write { try $0.run("LOCK TABLE person") }
        locked.happen()
        await ended.wait()
      }
      await locked.wait()
      let failure = try await code { try await database.count() }
      ended.happen()
      try await lock
      #expect(failure == .busy)
      #expect(statements(told) == ["SELECT count(*) FROM person"])
    }
  }

  @Test func `a statement is told once while it runs, with the session that it waits for`()
    async throws
  {
    try await withPostgreSQL(statementTimeout: .seconds(600)) { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      let (locked, ended) = (Event(), Event())
      async let lock: Int64 = database.transaction { transaction in
        let process = try await transaction.write { connection in
          try connection.run("LOCK TABLE person")
          return try connection.first(
            """
            SELECT pg_backend_pid()::bigint FROM set_config('application_name', 'psql', true)
            """
          ) { try $0.next() as Int64 }
        }
        locked.happen()
        await ended.wait()
        return process ?? 0
      }
      await locked.wait()
      async let count = database.count()
      while told.elements.isEmpty {
        database.tellSlowStatements()
        try await Task.sleep(for: .milliseconds(50))
      }
      // It still waits.
      database.tellSlowStatements()
      ended.happen()
      let holder = LockHolder(process: try await lock, application: "psql")
      _ = try await count
      guard
        case .statement("SELECT count(*) FROM person", let duration, let blockers)? =
          told.elements.first
      else {
        Issue.record("\(told.elements)")
        return
      }
      #expect(duration >= .seconds(1) && blockers == [holder] && told.elements.count == 1)
      let server = try #require(database.statistics.server)
      #expect(server.openReading > 0 && server.openWriting > 0 && server.refused == 0)
      #expect(database.statistics.commitTimes.counts.reduce(0, +) > 0)
    }
  }

  @Test func `the statements of a script may take long`() async throws {
    try await withPostgreSQL { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      try await database.write { try $0.runScript("SELECT pg_sleep(1.1); SELECT 1") }
      #expect(statements(told).filter { $0.contains("pg_sleep") }.isEmpty)
    }
  }

  @Test func `those who wait for a connection are counted, and told if it takes a second`()
    async throws
  {
    try await withPostgreSQL(readers: 1, writers: 1) { database in
      let told = Record<SlowUse>()
      database.tellSlowUse { told.append($0) }
      let held = HeldRead(database)
      await held.begun.wait()
      #expect(database.statistics.server?.reading == 1)
      // A connection is free only a moment after its write has returned.
      while database.statistics.server?.writing != 0 { await Task.yield() }
      async let count = database.count()
      while database.statistics.server?.waitingReads != 1 { await Task.yield() }
      try await Task.sleep(for: .seconds(1.1))
      await held.release()
      #expect(try await count == 0)
      #expect(waits(told) == [.read])
      #expect(database.statistics.server?.waitingReads == 0)
      while database.statistics.server?.reading != 0 { await Task.yield() }
    }
  }

  @Test func `the settings that matter are read`() async throws {
    try await withPostgreSQL { database in
      let settings = try await database.settings()
      #expect(settings.connections == 400 && settings.preparedTransactions == 1_000)
      #expect(!settings.losesOnFailover)
      let isOff = try await database.read { connection in
        try connection.all(
          """
          SELECT name FROM pg_settings
          WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name
          """
        ) { try $0.next() as String }
      }
      #expect(settings.turnedOff == isOff)
    }
  }
}
