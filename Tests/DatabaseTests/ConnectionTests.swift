import Database
import DatabaseSQLite
import TestDatabases
import Testing

struct ConnectionTests {
  @Test func `the query plan distinguishes a scan from a search`() async throws {
    try await withDatabase { database in
      #expect(try await database.queryPlan(of: "SELECT * FROM pet") == ["SCAN pet"])
      let plan = try await database.queryPlan(
        of: ("SELECT id FROM person WHERE name = \("a")" as SQL).text)
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
