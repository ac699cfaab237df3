import Database
import Foundation
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

/// Compares the schemas that the migrations of both dialects end with.
struct DialectTests {
  // It creates both.
  @Test(
    .enabled(if: PostgreSQL.isInstalled, "Debian's package postgresql isn't installed"),
    .enabled(if: TestDatabase.isSQLite))
  func `migrations for PostgreSQL create the schema of SQLite`() async throws {
    let migrations = Identity.migrations(for: .postgreSQL)
    let created = try await Self.schema(
      after: [migrations.baseline.text] + migrations.later.map(\.text))
    try await withEmptyDatabase { database in
      try await database.migrate(Identity.migrations(for: .sqlite), at: 0)
      let expected = Set(try await Self.schema(of: database).map(Self.normalized))
      #expect(expected.subtracting(created).sorted() == [], "missing")
      #expect(created.subtracting(expected).sorted() == [], "more than in SQLite")
      #expect(expected.count > 700)
    }
  }

  @Test(
    .enabled(if: PostgreSQL.isInstalled, "Debian's package postgresql isn't installed"),
    .enabled(if: TestDatabase.isSQLite))
  func `an upgraded database has the schema of a new one`() async throws {
    let migrations = Identity.migrations(for: .postgreSQL)
    let released = try await ReleasedDatabase.script()
    let upgraded = try await Self.schema(
      after: [released, migrations.upgrade.text] + migrations.later.map(\.text))
    let new = try await Self.schema(
      after: [migrations.baseline.text] + migrations.later.map(\.text))
    Self.expectSame(upgraded, new)
    try await ReleasedDatabase.with { released in
      try await released.database.migrate(Identity.migrations(for: .sqlite), at: 0)
      let upgraded = Set(try await Self.schema(of: released.database).map(Self.normalized))
      try await withEmptyDatabase { database in
        try await database.migrate(Identity.migrations(for: .sqlite), at: 0)
        Self.expectSame(upgraded, Set(try await Self.schema(of: database).map(Self.normalized)))
        let numbered = try await Self.numbered(database)
        #expect(try await Self.numbered(released.database) == numbered)
      }
    }
  }

  @Test func `later migrations are pairs`() throws {
    let later = [Dialect.sqlite, .postgreSQL].map { Identity.migrations(for: $0).later.map(\.name) }
    #expect(later[0] == later[1])
  }

  /// Expects the same schema; the instance itself has more rows in a database that was used.
  private static func expectSame(_ upgraded: Set<String>, _ new: Set<String>) {
    #expect(new.subtracting(upgraded).filter { $0 != "row audit_filed_to 0" }.sorted() == [])
    #expect(upgraded.subtracting(new).filter { !$0.hasPrefix("row ") }.sorted() == [])
  }

  /// Returns the tables whose numbers SQLite keeps separately.
  private static func numbered(_ database: any Database) async throws -> [String] {
    try await database.read { connection in
      try connection.all("SELECT /* test */ name FROM key_sequence ORDER BY name") {
        try $0.next()
      }
    }
  }

  /// Returns the schema that scripts create in PostgreSQL.
  private static func schema(after scripts: [String]) async throws -> Set<String> {
    let lines = try await PostgreSQL.run(
      scripts + [
        "SET search_path = public;\n\\pset format unaligned\n\\pset tuples_only on", postgreSQL,
      ])
    let parts = [
      "check", "column", "index", "key", "reference", "row", "table", "trigger", "unique",
    ]
    return Set(
      lines.filter { line in
        parts.contains { line.hasPrefix($0 + " ") } && !line.contains(" schema_migration")
      }.map(normalized))
  }

  /// Removes what the databases add when they store an expression, and writes functions and types
  /// alike.
  private static func normalized(_ line: String) -> String {
    var line = line.lowercased()
    for (one, other) in [
      ("::text", ""), ("::bigint", ""), ("x'ff'", "chr(1114111)"), ("ifnull", "coalesce"),
      ("(", " "), (")", " "), ("\"", ""), ("\n", " "),
    ] { line = line.replacing(one, with: other) }
    return line.split(separator: " ").joined(separator: " ")
  }
}

// MARK: - The parts of a schema

extension DialectTests {
  /// Returns the tables, columns, constraints, indexes, and triggers of a database, and the rows
  /// that migrations create, as one line each.
  private static func schema(of database: any Database) async throws -> [String] {
    try await database.read { connection in
      let tables = try connection.all(
        """
        SELECT /* test */ name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE
          'account_search%' AND name NOT LIKE 'sqlite_%'
          AND name NOT IN ('schema_migration', 'key_sequence')
        """
      ) { (name: try $0.next() as String, text: try $0.next() as String) }
      var lines = try connection.all(
        """
        SELECT /* test */ 'trigger ' || tbl_name || ' ' || name FROM sqlite_schema
        WHERE type = 'trigger' AND NOT (name = tbl_name || '_number'
          AND tbl_name IN (SELECT name FROM key_sequence))
        UNION ALL SELECT 'row ' || name || ' ' || value FROM instance
        """
      ) { try $0.next() as String }
      for (name, text) in tables {
        lines.append("table \(name)")
        lines += checks(in: text).map { "check \(name) \($0)" }
        lines += try connection.all(parts(of: name)) { try $0.next() as String }
        lines += try indexes(of: name, connection)
      }
      return lines
    }
  }

  private static func parts(of table: String) -> SQL {
    """
    SELECT /* test */ 'column ' || \(table) || ' ' || name || ' '
      || CASE type WHEN 'INTEGER' THEN 'bigint' WHEN 'BLOB' THEN 'bytea' ELSE lower(type) END
      || iif("notnull" OR pk > 0, ' required', '') || iif(hidden > 1, ' generated', '')
      || coalesce(' ' || dflt_value, '')
    FROM pragma_table_xinfo(\(table))
    UNION ALL SELECT 'key ' || \(table) || ' ' || group_concat(name, ',') FROM (
      SELECT name FROM pragma_table_info(\(table)) WHERE pk > 0 ORDER BY pk)
    UNION ALL SELECT 'reference ' || \(table) || ' ' || group_concat("from", ',') || ' '
      || "table" || ' ' || on_delete
    FROM (SELECT * FROM pragma_foreign_key_list(\(table)) ORDER BY id, seq) GROUP BY id
    UNION ALL SELECT 'unique ' || \(table) || ' ' || (
      SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno))
    FROM pragma_index_list(\(table)) l WHERE l.origin = 'u'
    """
  }

  /// Returns the indexes with their names, as they were created.
  private static func indexes(
    of table: String, _ connection: borrowing Connection
  ) throws -> [String] {
    try connection.all(
      """
      SELECT /* test */ name, sql FROM sqlite_schema
      WHERE type = 'index' AND tbl_name = \(table) AND sql IS NOT NULL
      """
    ) { row in
      let name: String = try row.next()
      let text = (try row.next() as String).replacing("\n", with: " ")
      let on = text.firstRange(of: " ON ").map { text[$0.upperBound...] } ?? ""
      let isUnique = text.hasPrefix("CREATE UNIQUE")
      return "index \(name)\(isUnique ? " unique" : "") \(on)"
    }
  }

  /// Returns the literals of each CHECK constraint in the text of a table, which is all that
  /// PostgreSQL stores without changes.
  private static func checks(in text: String) -> [String] {
    text.split(separator: "CHECK (").dropFirst().map { rest in
      var depth = 1
      let condition = rest.prefix { character in
        depth += character == "(" ? 1 : character == ")" ? -1 : 0
        return depth > 0
      }
      return condition.matches(of: /'[^']*'|\b\d+\b/).map { String($0.output) }
        .joined(separator: " ")
    }
  }

  private static let postgreSQL = """
    CREATE TEMPORARY VIEW own AS SELECT oid, relname AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace;
    SELECT 'table ' || name FROM own;
    SELECT 'column ' || name || ' ' || attname || ' ' || format_type(atttypid, atttypmod)
      || CASE WHEN attnotnull THEN ' required' ELSE '' END
      || CASE WHEN attgenerated <> '' THEN ' generated'
        ELSE coalesce(' ' || pg_get_expr(adbin, adrelid), '') END
    FROM own JOIN pg_attribute ON attrelid = own.oid
      LEFT JOIN pg_attrdef ON adrelid = own.oid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped;
    SELECT CASE contype WHEN 'p' THEN 'key ' WHEN 'u' THEN 'unique ' WHEN 'f' THEN 'reference '
        ELSE 'check ' END || own.name || ' '
      || CASE WHEN contype = 'c' THEN coalesce((
          SELECT string_agg(part[1], ' ')
          FROM regexp_matches(pg_get_constraintdef(c.oid), '''[^'']*''|\\y\\d+\\y', 'g') AS part), '')
        ELSE (SELECT string_agg(attname, ',' ORDER BY place)
          FROM unnest(conkey) WITH ORDINALITY AS k (number, place)
            JOIN pg_attribute ON attrelid = own.oid AND attnum = number) END
      || CASE contype WHEN 'f' THEN ' ' || target.name
        || CASE confdeltype WHEN 'c' THEN ' CASCADE' ELSE ' NO ACTION' END ELSE '' END
    FROM own JOIN pg_constraint c ON conrelid = own.oid LEFT JOIN own target
      ON target.oid = confrelid
    WHERE contype IN ('p', 'u', 'f', 'c');
    SELECT 'index ' || indexname || CASE WHEN indexdef LIKE 'CREATE UNIQUE%' THEN ' unique' ELSE '' END
      || ' ' || tablename || regexp_replace(indexdef, '^.* USING btree', '')
    FROM pg_indexes
    WHERE schemaname = 'public' AND indexdef LIKE '% USING btree %'
      AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname);
    SELECT 'trigger ' || own.name || ' ' || tgname
    FROM own JOIN pg_trigger ON tgrelid = own.oid WHERE NOT tgisinternal;
    SELECT 'row ' || name || ' ' || value FROM instance;
    """
}
