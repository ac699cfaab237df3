import Database
import DatabasePostgreSQL
import Dispatch
import Glibc
import TestDatabases
import Testing

private let needsServer: Comment = "Debian's package postgresql isn't installed"

/// Transactions, conflicts, and lost connections, with a real server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, needsServer), .timeLimit(.minutes(2)))
struct ServerTests {
  /// Ends the other connections to the database.
  private static let terminate: SQL = """
    SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend'
    """

  @Test func `a write that conflicts with another runs again`() async throws {
    try await withTwoPostgreSQL { one, other in
      try await one.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 0)") }
      let runs = Record<Int>()
      let (hasRead, gate) = (Event(), DispatchSemaphore(value: 0))
      let slow = Task {
        try await one.write { connection in
          let age = try connection.first("SELECT age FROM person") { try $0.next() as Int }
          runs.append(age ?? -1)
          if runs.elements.count == 1 {
            hasRead.happen()
            gate.wait()
          }
          try connection.run("UPDATE person SET age = \((age ?? 0) + 1)")
        }
      }
      await hasRead.wait()
      try await other.write { try $0.run("UPDATE person SET age = 41") }
      gate.signal()
      try await slow.value
      #expect(runs.elements == [0, 41])
      #expect(one.statistics.server?.retries == 1)
      #expect(other.statistics.server?.retries == 0)
      let age = try await one.read { connection in
        try connection.first("SELECT age FROM person") { try $0.next() as Int }
      }
      #expect(age == 42)
    }
  }

  @Test func `a conflict that only the commit finds runs the write again`() async throws {
    try await withTwoPostgreSQL { one, other in
      // Each counts the rows and inserts one: neither changes a row of the other.
      let runs = Record<Int>()
      let (hasRead, gate) = (Event(), DispatchSemaphore(value: 0))
      @Sendable func insertCount(_ name: String, _ connection: borrowing Connection) throws -> Int {
        let count = try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
        try connection.run("INSERT INTO person (name, age) VALUES (\(name), \(count))")
        return count ?? -1
      }
      let slow = Task {
        try await one.write { connection in
          runs.append(try insertCount("one", connection))
          if runs.elements.count == 1 {
            hasRead.happen()
            gate.wait()
          }
        }
      }
      await hasRead.wait()
      try await other.write { _ = try insertCount("other", $0) }
      gate.signal()
      try await slow.value
      #expect(runs.elements == [0, 1])
    }
  }

  @Test func `a write that replaces the error of a conflict runs again nevertheless`()
    async throws
  {
    struct Other: Error {}
    try await withTwoPostgreSQL { one, other in
      try await one.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 0)") }
      let runs = Record<Int>()
      let (hasRead, gate) = (Event(), DispatchSemaphore(value: 0))
      let slow = Task {
        try await one.write { connection in
          _ = try connection.first("SELECT age FROM person") { try $0.next() as Int }
          runs.append(1)
          if runs.elements.count == 1 {
            hasRead.happen()
            gate.wait()
          }
          do { try connection.run("UPDATE person SET age = 1") } catch { throw Other() }
        }
      }
      await hasRead.wait()
      try await other.write { try $0.run("UPDATE person SET age = 41") }
      gate.signal()
      try await slow.value
      #expect(runs.elements.count == 2)
    }
  }

  @Test func `a lost connection is an error, and the next write gets another`() async throws {
    try await withTwoPostgreSQL { one, other in
      let failure = try await code {
        try await one.write { connection in
          try connection.run("INSERT INTO person (name) VALUES ('lost')")
          let (done, database) = (DispatchSemaphore(value: 0), other)
          Task {
            _ = try await database.read { try $0.first(Self.terminate) { try $0.next() as Int } }
            done.signal()
          }
          done.wait()
          try connection.run("INSERT INTO person (name) VALUES ('lost too')")
        }
      }
      #expect(failure == .ioError)
      try await one.insert("found")
      #expect(try await one.names() == ["found"])
    }
  }

  @Test func `connections lost while idle aren't noticed by callers`() async throws {
    try await withTwoPostgreSQL { one, other in
      for number in 0..<3 {
        try await one.insert("\(number)")
        #expect(try await one.count() == number + 1)
        _ = try await other.read { try $0.first(Self.terminate) { try $0.next() as Int } }
        // The servers' processes end a moment later.
        while try await others(other) > 0 {}
      }
    }
  }

  @Test func `a server that can't be reached is passed over`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let name = try await server.createDatabase()
    // Nothing listens on port 1.
    let database = try await PostgreSQLDatabase(
      PostgreSQLAddress("postgresql://postgres@127.0.0.1:1,127.0.0.1:\(server.port)/\(name)"))
    let port = try await database.read { connection in
      try connection.first("SELECT inet_server_port()") { try $0.next() as Int }
    }
    #expect(port == server.port)
    await database.close()
    let error = await #expect(throws: DatabaseError.self) {
      try await PostgreSQLDatabase(PostgreSQLAddress("postgresql://127.0.0.1:1,127.0.0.1:2/x"))
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message.contains("127.0.0.1:1") == true)
  }

  @Test func `a connection that became read-only is replaced`() async throws {
    try await withTwoPostgreSQL { one, _ in
      try await one.insert("a")
      let failure = try await code {
        try await one.write { connection in
          _ = try connection.first("SELECT set_config('transaction_read_only', 'on', true)") { _ in
          }
          try connection.run("INSERT INTO person (name) VALUES ('b')")
        }
      }
      #expect(failure == .readOnly)
      try await one.insert("c")
      #expect(try await one.names() == ["a", "c"])
    }
  }

  private func others(_ database: PostgreSQLDatabase) async throws -> Int {
    try await database.read { connection in
      try connection.first(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        """
      ) { try $0.next() as Int } ?? 0
    }
  }

  @Test func `a connection lost during the commit leaves the outcome unknown`() async throws {
    try await withTwoPostgreSQL { one, other in
      try await one.write { connection in
        try connection.runScript(
          """
          CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_sleep(30); RETURN NULL; END $$;
          CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON pet DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait();
          INSERT INTO person (id, name) VALUES (1, 'a');
          """)
      }
      let runs = Record<Int>()
      let write = Task {
        try await one.write { connection in
          runs.append(1)
          try connection.run("INSERT INTO pet (owner, name) VALUES (1, 'Rex')")
        }
      }
      while try await others(sleepingIn: other) == 0 {}
      _ = try await other.read { try $0.first(Self.terminate) { try $0.next() as Int } }
      let error = await #expect(throws: DatabaseError.self) { try await write.value }
      #expect(error?.code == .outcomeUnknown)
      #expect(runs.elements.count == 1, "it isn't repeated")
      #expect(try await one.count() == 1)
    }
  }

  private func others(sleepingIn database: PostgreSQLDatabase) async throws -> Int {
    try await database.read { connection in
      try connection.first(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'COMMIT'"
      ) { try $0.next() as Int } ?? 0
    }
  }

  @Test func `a commit with a warning isn't confirmed`() async throws {
    // As when someone cancels a commit that waits for a standby.
    try await withTwoPostgreSQL { one, _ in
      try await one.write { connection in
        try connection.runScript(
          """
          CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE WARNING 'canceled'; RETURN NULL; END $$;
          CREATE CONSTRAINT TRIGGER warning AFTER INSERT ON pet DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION warn();
          INSERT INTO person (id, name) VALUES (1, 'a');
          """)
      }
      let runs = Record<Int>()
      let failure = try await code {
        try await one.write { connection in
          runs.append(1)
          try connection.run("INSERT INTO pet (owner, name) VALUES (1, 'Rex')")
        }
      }
      #expect(failure == .outcomeUnknown)
      #expect(runs.elements.count == 1)
      try await one.insert("b")
    }
  }

  @Test func `a server that hangs is given up`() async throws {
    try await withPostgreSQL(readers: 1, writers: 1, statementTimeout: .milliseconds(100)) {
      database in
      let stopped = Record<pid_t>()
      let failure = try await code {
        try await database.write { connection in
          let pid = try connection.first("SELECT pg_backend_pid()") { try $0.next() as Int }
          stopped.append(pid_t(try #require(pid)))
          try #require(kill(stopped.elements[0], SIGSTOP) == 0)
          try connection.run("INSERT INTO person (name) VALUES ('lost')")
        }
      }
      #expect(failure == .ioError)
      kill(stopped.elements[0], SIGCONT)
      try await database.insert("stored")
      #expect(try await database.names() == ["stored"])
    }
  }

  @Test func `an error that a write ignores fails it`() async throws {
    try await withPostgreSQL { database in
      try await database.insert("taken")
      let failure = try await code {
        try await database.write { connection in
          try connection.run("INSERT INTO person (name) VALUES ('undone')")
          _ = try? connection.run("INSERT INTO person (name) VALUES ('taken')")
          _ = try? connection.run("INSERT INTO person (name) VALUES ('refused')")
        }
      }
      #expect(failure == .uniqueViolation("person.name"))
      #expect(try await database.names() == ["taken"])
    }
  }

  @Test func `statements have a time limit, and scripts have none`() async throws {
    try await withPostgreSQL(statementTimeout: .milliseconds(100)) { database in
      let slow = try await code {
        try await database.read { try $0.first("SELECT pg_sleep(20)::text") { _ in } }
      }
      #expect(slow == .busy)
      try await database.write { try $0.runScript("SELECT pg_sleep(0.3)") }
    }
  }

  @Test func `idle transactions have a time limit`() async throws {
    try await withPostgreSQL(idleTimeout: .milliseconds(500)) { database in
      let idle = try await code {
        try await database.write { connection in
          try connection.run("INSERT INTO person (name) VALUES ('a')")
          DispatchSemaphore(value: 0).wait(upTo: .milliseconds(1_500))
        }
      }
      #expect(idle == .ioError)
      #expect(try await database.count() == 0)
    }
  }

  @Test func `a read begins in the same round trip as its first statement`() async throws {
    try await withTwoPostgreSQL { one, other in
      let isolation = try await one.read { connection in
        try connection.first(
          "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')"
        ) { "\(try $0.next() as String) \(try $0.next() as String)" }
      }
      #expect(isolation == "repeatable read on")
      let write = try await one.write { connection in
        try connection.first(
          "SELECT current_setting('transaction_isolation'), current_setting('synchronous_commit')"
        ) { "\(try $0.next() as String) \(try $0.next() as String)" }
      }
      #expect(write == "serializable on")
      // A transaction without statements doesn't exist for the server.
      try await one.read { _ in }
      try await one.write { _ in }
      // That of the reads is ended in a moment.
      while try await idleTransactions(other) > 0 {}
    }
  }

  private func idleTransactions(_ database: PostgreSQLDatabase) async throws -> Int {
    try await database.read { connection in
      try connection.first(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
        """
      ) { try $0.next() as Int } ?? 0
    }
  }

  @Test func `statistics count reads, writes, and commits`() async throws {
    try await withPostgreSQL { database in
      let before = database.statistics
      try await database.insert("a")
      _ = try await database.count()
      _ = try? await database.insert("a")
      let after = database.statistics
      #expect(after.writes - before.writes == 1)
      #expect(after.commits - before.commits == 1)
      #expect(after.reads - before.reads == 1)
      #expect(after.largestGroup == 1)
      #expect(after.server?.roundTrips != before.server?.roundTrips)
      #expect(after.groups.reduce(0, +) == after.commits)
    }
  }
}

extension DispatchSemaphore {
  /// Blocks the thread for a time.
  fileprivate func wait(upTo time: DispatchTimeInterval) {
    _ = wait(timeout: .now() + time)
  }
}
