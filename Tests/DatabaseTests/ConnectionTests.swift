import Database
import DatabaseSQLite
import Testing

struct ConnectionTests {
  @Test func `run returns the number of changed rows`() async throws {
    try await withDatabase { database in
      let counts = try await database.write { connection in
        [
          try connection.run("INSERT INTO person (name) VALUES ('a'), ('b'), ('c')"),
          try connection.run("UPDATE person SET age = 3 WHERE name <> 'a'"),
          try connection.run("CREATE TABLE other (x)"),
          try connection.run("SELECT * FROM person"),
          try connection.run("DELETE FROM person WHERE name = 'nobody'"),
        ]
      }
      #expect(counts == [3, 2, 0, 0, 0])
    }
  }

  @Test func `first returns one row, and a statement with RETURNING runs completely`()
    async throws
  {
    try await withDatabase { database in
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

  @Test func `the same query can run while it is being decoded`() async throws {
    try await withDatabase { database in
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
    arguments: [
      "BEGIN", "commit", " -- note\n ROLLBACK", "/* x */ SAVEPOINT a", "PRAGMA foreign_keys = OFF",
      "ATTACH 'x' AS y", "SELECT 1; SELECT 2", "SELECT $1", "", "-- nothing", "VACUUM",
    ] as [SQL])
  func `text that isn't a single allowed statement is refused`(sql: SQL) async throws {
    try await withDatabase { database in
      let failure = try await code { _ = try await database.write { try $0.run(sql) } }
      #expect(failure == .misuse)
      try await database.insert("goes on")
    }
  }

  @Test func `a script can't end the transaction either`() async throws {
    try await withDatabase { database in
      let failure = try await code {
        try await database.write { try $0.runScript("DELETE FROM person; COMMIT; SELECT 1") }
      }
      #expect(failure == .misuse)
    }
  }

  @Test func `a reader can't change data`() async throws {
    try await withDatabase { database in
      let failure = try await code {
        _ = try await database.read { try $0.run("INSERT INTO person (name) VALUES ('a')") }
      }
      #expect(failure == .readOnly)
      #expect(try await database.count() == 0)
    }
  }

  @Test func `more statements than the cache holds can be run`() async throws {
    try await withDatabase { database in
      let total = try await database.read { connection in
        try (0..<600).reduce(0) { total, size in
          let sql: SQL = "SELECT count(*) WHERE 1 IN (\(list: Array(0...size)))"
          return total + (try connection.first(sql) { try $0.next() } ?? 0)
        }
      }
      #expect(total == 599)
    }
  }

  @Test func `statements of the same parts in another order are different statements`()
    async throws
  {
    try await withDatabase { database in
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

  @Test func `a cached statement reflects schema changes`() async throws {
    try await withDatabase { database in
      @Sendable func lastColumn() async throws -> [SQLValue] {
        try await database.read { connection in
          try connection.all("SELECT * FROM person") { row in
            try (0..<row.columnCount).map { _ in try row.next() as SQLValue }
          }.compactMap(\.last)
        }
      }
      try await database.write { try $0.run("INSERT INTO person (name, age) VALUES ('a', 3)") }
      #expect(try await lastColumn() == [.integer(3)])
      try await database.write { try $0.run("ALTER TABLE person ADD COLUMN note DEFAULT 'new'") }
      #expect(try await lastColumn() == [.text("new")])
    }
  }

  @Test func `the trace has the text of every statement without values`() async throws {
    let texts = Record<String>()
    try await withDatabase(trace: { texts.append($0) }) { database in
      try await database.insert("a secret")
      _ = try await database.names()
      #expect(
        texts.elements.suffix(2) == [
          "INSERT INTO person (name) VALUES ($1)", "SELECT name FROM person ORDER BY name",
        ])
    }
  }

  @Test func `the query plan distinguishes a scan from a search`() async throws {
    try await withDatabase { database in
      #expect(try await database.queryPlan(of: "SELECT * FROM pet") == ["SCAN pet"])
      let plan = try await database.queryPlan(
        of: "SELECT id FROM person WHERE name = \("a")" as SQL)
      #expect(plan.count == 1)
      #expect(plan.first?.hasPrefix("SEARCH person USING COVERING INDEX") == true)
    }
  }

  @Test func `a full-text table is updated by statements, not triggers`() async throws {
    try await withDatabase { database in
      try await database.write { connection in
        try connection.runScript(
          """
          CREATE VIRTUAL TABLE person_search USING fts5 (name, content = '', tokenize = 'trigram');
          CREATE TRIGGER pet_added AFTER INSERT ON pet BEGIN
            INSERT INTO person_search (rowid, name) VALUES (new.owner, new.name);
          END;
          """)
        try connection.run("INSERT INTO person_search (rowid, name) VALUES (1, 'Ada Lovelace')")
      }
      let failure = try await code {
        try await database.write { try $0.run("INSERT INTO pet (owner, name) VALUES (1, 'Rex')") }
      }
      #expect(failure == .other(1), "trusted_schema is off")
      let found = try await database.read { connection in
        try connection.all("SELECT rowid FROM person_search WHERE name MATCH \("\"love\"")") {
          try $0.next() as Int
        }
      }
      #expect(found == [1])
    }
  }
}
