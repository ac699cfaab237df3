import Database
import TestDatabases
import Testing

/// What callers rely on, whatever the database is.
@Suite(.timeLimit(.minutes(2)))
struct ConformanceTests {
  struct Refusal: Error {}

  @Test(arguments: Engine.available)
  func `run returns the number of changed rows`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let counts = try await database.write { connection in
        [
          try connection.run("INSERT INTO person (name) VALUES ('a'), ('b'), ('c')"),
          try connection.run("UPDATE person SET age = 3 WHERE name <> 'a'"),
          try connection.run("CREATE TABLE other (x BIGINT)"),
          try connection.run("SELECT * FROM person"),
          try connection.run("DELETE FROM person WHERE name = 'nobody'"),
        ]
      }
      #expect(counts == [3, 2, 0, 0, 0])
    }
  }

  @Test(arguments: Engine.available)
  func `first returns one row, and a statement with RETURNING runs completely`(engine: Engine)
    async throws
  {
    try await withDatabase(engine) { database in
      let id = try await database.write { connection in
        try connection.first(
          "INSERT INTO person (name) VALUES ('a'), ('b'), ('c') RETURNING id"
        ) { try $0.next() as Int }
      }
      #expect(id == 1)
      #expect(try await database.names() == ["a", "b", "c"])
      let missing = try await database.read { connection in
        try connection.first("SELECT id FROM person WHERE name = 'x'") { try $0.next() as Int }
      }
      #expect(missing == nil)
    }
  }

  @Test(arguments: Engine.available)
  func `the same query can run while it is being decoded`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      for name in ["a", "b"] { try await database.insert(name) }
      let pairs = try await database.read { connection in
        let query: SQL = "SELECT name FROM person ORDER BY name"
        return try connection.all(query) { outer in
          let inner = try connection.all(query) { try $0.next() as String }
          return try outer.next() + inner.joined()
        }
      }
      #expect(pairs == ["aab", "bab"])
    }
  }

  @Test(
    arguments: Engine.available,
    [
      "BEGIN", "commit", " -- note\n ROLLBACK", "/* x */ SAVEPOINT a", "PRAGMA foreign_keys = OFF",
      "ATTACH 'x' AS y", "SELECT 1; SELECT 2", "SELECT $1", "", "-- nothing", "VACUUM",
    ] as [SQL])
  func `text that isn't a single allowed statement is refused`(engine: Engine, sql: SQL)
    async throws
  {
    try await withDatabase(engine) { database in
      let failure = try await code { _ = try await database.write { try $0.run(sql) } }
      #expect(failure == .misuse)
      try await database.insert("goes on")
    }
  }

  @Test(arguments: Engine.available)
  func `a script can't end the transaction either`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let failure = try await code {
        try await database.write { try $0.runScript("DELETE FROM person; COMMIT; SELECT 1") }
      }
      #expect(failure == .misuse)
    }
  }

  @Test(arguments: Engine.available)
  func `a reader can't change data`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let failure = try await code {
        _ = try await database.read { try $0.run("INSERT INTO person (name) VALUES ('a')") }
      }
      #expect(failure == .readOnly)
      #expect(try await database.count() == 0)
    }
  }

  @Test(arguments: Engine.available)
  func `more statements than the cache holds can be run`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      for _ in 0..<2 {
        let total = try await database.read { connection in
          try (0..<300).reduce(0) { total, size in
            let sql: SQL = "SELECT count(*) WHERE 1 IN (\(list: Array(0...size)))"
            return total + (try connection.first(sql) { try $0.next() } ?? 0)
          }
        }
        #expect(total == 299)
      }
    }
  }

  @Test(arguments: Engine.available)
  func `statements of the same parts in another order are different statements`(engine: Engine)
    async throws
  {
    try await withDatabase(engine) { database in
      let (one, two): (SQL, SQL) = (" SELECT 1", " SELECT 2")
      let both: SQL = " UNION ALL"
      let found = try await database.read { connection in
        let first: [Int] = try connection.all(one + both + two) { try $0.next() }
        let second: [Int] = try connection.all(two + both + one) { try $0.next() }
        return [first, second]
      }
      #expect(found == [[1, 2], [2, 1]])
    }
  }

  @Test(arguments: Engine.available)
  func `a cached statement reflects schema changes`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      @Sendable func lastColumn() async throws -> [SQLValue] {
        try await database.read { connection in
          try connection.all("SELECT * FROM person") { row in
            try (0..<row.columnCount).map { _ in try row.next() as SQLValue }
          }.compactMap(\.last)
        }
      }
      try await database.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 3)") }
      #expect(try await lastColumn() == [.integer(3)])
      try await database.write {
        try $0.run("ALTER TABLE person ADD COLUMN note TEXT DEFAULT 'new'")
      }
      #expect(try await lastColumn() == [.text("new")])
    }
  }

  @Test(arguments: Engine.available)
  func `the trace has the text of every statement without values`(engine: Engine) async throws {
    let texts = Record<String>()
    try await withDatabase(engine, trace: { texts.append($0) }) { database in
      try await database.insert("a secret")
      _ = try await database.names()
      #expect(
        texts.elements.suffix(2) == [
          "INSERT INTO person (name) VALUES ($1)", "SELECT name FROM person ORDER BY name",
        ])
    }
  }

  @Test(arguments: Engine.available)
  func `a closure that throws rolls back its changes`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<32 {
          group.addTask {
            do {
              try await database.write { connection in
                try connection.run("INSERT INTO person (name) VALUES (\("person \(number)"))")
                if number == 7 { throw Refusal() }
              }
            } catch is Refusal {
              #expect(number == 7)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await database.count() == 31)
    }
  }

  @Test(arguments: Engine.available)
  func `a constraint that is checked at the end fails the write`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let failure = try await code {
        try await database.write { connection in
          try connection.run("INSERT INTO person (name) VALUES ('a')")
          try connection.run("INSERT INTO pet (owner, name) VALUES (99, 'Rex')")
        }
      }
      #expect(failure == .foreignKey)
      #expect(try await database.count() == 0)
    }
  }

  @Test(arguments: Engine.available)
  func `an attempt that fails is undone, and the write goes on`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.insert("taken")
      try await database.write { connection in
        try connection.run("INSERT INTO person (name) VALUES ('first')")
        let failure = try #require(throws: DatabaseError.self) {
          try connection.attempt {
            try connection.run("INSERT INTO person (name) VALUES ('undone')")
            try connection.attempt {
              try connection.run("INSERT INTO person (name) VALUES ('undone too')")
            }
            try connection.run("INSERT INTO person (name) VALUES ('taken')")
          }
        }
        #expect(failure.code == .uniqueViolation("person.name"))
        #expect(throws: Refusal.self) { try connection.attempt { throw Refusal() } }
        try connection.attempt {
          _ = try connection.run("INSERT INTO person (name) VALUES ('last')")
        }
      }
      #expect(try await database.names() == ["first", "last", "taken"])
    }
  }

  @Test(arguments: Engine.available)
  func `statements to run later run in order, and before the next one`(engine: Engine) async throws
  {
    try await withDatabase(engine) { database in
      let counts = try await database.write { connection in
        var counts: [Int] = []
        for _ in 0..<2 {
          for number in 0..<100 {
            try connection.runLater(
              "INSERT INTO person (name) VALUES (\("\(counts.count) \(number)"))")
          }
          counts.append(
            try connection.first("SELECT count(*) FROM person") { try $0.next() } ?? 0)
        }
        try connection.attempt {
          try connection.runLater("INSERT INTO person (name, age) VALUES ('last', 1)")
        }
        try connection.runLater("UPDATE person SET age = 2 WHERE age = 1")
        return counts
      }
      #expect(counts == [100, 200])
      let last = try await database.read { connection in
        try connection.first("SELECT name FROM person WHERE age = 2") { try $0.next() as String }
      }
      #expect(last == "last")
    }
  }

  @Test(arguments: Engine.available)
  func `an attempt can't undo the failure of an earlier statement`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.insert("taken")
      let failure = try await code {
        try await database.write { connection in
          try connection.attempt {
            try connection.runLater("INSERT INTO person (name) VALUES (\("taken"))")
            try? connection.attempt {
              _ = try connection.run("INSERT INTO person (name) VALUES ('lost')")
            }
            _ = try connection.run("INSERT INTO person (name) VALUES ('lost too')")
          }
        }
      }
      #expect(failure == .uniqueViolation("person.name"))
      #expect(try await database.names() == ["taken"])
    }
  }

  @Test(arguments: Engine.available)
  func `a statement to run later that fails fails the write`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.insert("taken")
      for waits in [true, false] {
        let error = await #expect(throws: DatabaseError.self) {
          try await database.write { connection in
            try connection.runLater("INSERT INTO person (name) VALUES ('undone')")
            try connection.runLater("INSERT INTO person (name) VALUES (\("taken"))")
            if waits { try connection.run("UPDATE person SET age = 1") }
          }
        }
        #expect(error?.code == .uniqueViolation("person.name"))
        #expect(error?.sql == "INSERT INTO person (name) VALUES ($1)")
        // On the same connection.
        try await database.insert("after \(waits)")
      }
      #expect(try await database.names() == ["after false", "after true", "taken"])
    }
  }

  @Test(arguments: Engine.available)
  func `racing increments give the exact total`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 0)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask {
            for _ in 0..<10 {
              try await database.write { connection in
                let age = try connection.first("SELECT age FROM person WHERE name = 'a'") {
                  try $0.next() as Int
                }
                try connection.run("UPDATE person SET age = \((age ?? 0) + 1) WHERE name = 'a'")
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let age = try await database.read { connection in
        try connection.first("SELECT age FROM person") { try $0.next() as Int }
      }
      #expect(age == 160)
    }
  }

  @Test(arguments: Engine.available)
  func `racing writes that each add the next row all succeed`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 0)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask {
            for _ in 0..<5 {
              try await database.write { connection in
                let last = try connection.first("SELECT age FROM person WHERE name = 'a'") {
                  try $0.next() as Int
                }
                let next = (last ?? 0) + 1
                // The name is the next number only if no other write took it meanwhile.
                try connection.run("INSERT INTO person (name) VALUES (\("next-\(next)"))")
                try connection.run("UPDATE person SET age = \(next) WHERE name = 'a'")
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await database.count() == 81)
    }
  }

  @Test(arguments: Engine.available)
  func `a violated constraint is reported by name`(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.write { connection in
        try connection.run("INSERT INTO person (id, name) VALUES (99, 'Ada')")
        try connection.run("INSERT INTO pet (owner, name) VALUES (99, 'Rex')")
      }
      let check = engine == .sqlite ? "age >= 0" : "person_age_check"
      let missing: Int32 = engine == .sqlite ? 1 : try #require(Int32("42P01", radix: 36))
      let cases: [(SQL, DatabaseError.Code)] = [
        ("INSERT INTO person (name) VALUES (\("Ada"))", .uniqueViolation("person.name")),
        ("INSERT INTO person (id, name) VALUES (99, 'B')", .uniqueViolation("person.id")),
        ("INSERT INTO pet VALUES (99, 'Rex', NULL)", .uniqueViolation("pet.owner, pet.name")),
        ("INSERT INTO pet VALUES (98, 'Rex', NULL)", .foreignKey),
        ("INSERT INTO person (name, age) VALUES ('C', -1)", .checkViolation(check)),
        ("INSERT INTO person (name) VALUES (NULL)", .notNullViolation("person.name")),
        ("INSERT INTO nothing VALUES (1)", .other(missing)),
      ]
      for (sql, expected) in cases {
        let failure = try await code { try await database.write { try $0.run(sql) } }
        #expect(failure == expected, "\(sql)")
      }
    }
  }
}
