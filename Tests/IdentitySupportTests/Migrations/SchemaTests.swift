import Database
import Foundation
import TestDatabases
import Testing

@testable import TestIdentity

/// Tests the documentation of the schema, which is generated from a migrated database.
///
/// It documents SQLite's; another test compares PostgreSQL's with it.
@Suite(.enabled(if: TestDatabase.isSQLite)) struct SchemaTests {
  @Test func `docs/reference/schema.md matches a migrated database`() async throws {
    try await withInstance { instance in
      let text = Self.text(try await Self.tables(of: instance.database))
      let path = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/reference/schema.md").standardized
      if IndexUses.isRecording {
        try text.write(to: path, atomically: true, encoding: .utf8)
        Issue.record("recorded docs/reference/schema.md; run again without recording")
        return
      }
      let kept = try String(contentsOf: path, encoding: .utf8)
      #expect(kept == text, "run with COUNTERSIGN_RECORD_SNAPSHOTS=1 to regenerate it")
    }
  }

  /// Each index costs every write to its table, so one that nothing reads is removed.
  @Test func `every index enforces uniqueness or serves a statement`() async throws {
    let uses = IndexUses.kept()
    try await withInstance { instance in
      let indexes = try await Self.tables(of: instance.database).flatMap(\.indexes)
      for index in indexes where !index.isUnique {
        guard let statement = uses[index.name] else {
          Issue.record("no statement uses \(index.name)")
          continue
        }
        let plan = try await instance.plan(of: statement)
        #expect(plan.compactMap(IndexUses.index).contains(index.name), "\(index.name): \(plan)")
      }
      let unknown = Set(uses.keys)
        .subtracting(indexes.map(\.name))
      #expect(unknown == [])
    }
  }

  /// A pool can be a shard, since its key is in each key, so a new table has it or is listed.
  @Test func `each primary key has the pool, except those that a document lists`()
    async throws
  {
    try await withInstance { instance in
      let tables = try await Self.tables(of: instance.database)
      let pool: Set = ["scope_key", "account_key"]
      let path = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/reference/statements.md").standardized
      let page = try String(contentsOf: path, encoding: .utf8)
      let section = try #require(page.split(separator: "## Where a pool's data is").last)
        .prefix(while: { $0 != "#" })
      let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
      let listed = rows.flatMap { row in
        row.split(separator: "|")[0].matches(of: /`([a-z_]+)`/).map { String($0.output.1) }
      }
      // The table that says which pools there are is itself found by their keys.
      let lacking = tables.filter { pool.isDisjoint(with: $0.keys) || $0.name == "scope" }
      #expect(listed.sorted() == lacking.map(\.name).sorted())
    }
  }
}

extension SchemaTests {
  private struct Table {
    let name: String
    var columns: [Column] = []
    var indexes: [Index] = []

    var keys: [String] { columns.filter { $0.key > 0 }.sorted { $0.key < $1.key }.map(\.name) }
  }

  private struct Column {
    let name: String
    let type: String
    let isRequired: Bool
    let standard: String?
    let key: Int
  }

  private struct Index {
    let name: String
    let isUnique: Bool
    /// The definition after the table's name.
    let definition: String
  }

  private static func tables(of database: any Database) async throws -> [Table] {
    try await database.read { connection in
      let names = try connection.all(
        """
        SELECT /* test */ name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'
        ORDER BY name
        """
      ) { try $0.next() as String }
      return try names.map { name in
        var table = Table(name: name)
        table.columns = try connection.all(
          """
          SELECT /* test */ name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(\(name))
          WHERE hidden <> 1 ORDER BY cid
          """
        ) { row in
          Column(
            name: try row.next(), type: try row.next(), isRequired: try row.next(),
            standard: try row.next(), key: try row.next())
        }
        table.indexes = try connection.all(
          """
          SELECT /* test */ s.name, l."unique", s.sql
          FROM sqlite_schema s JOIN pragma_index_list(\(name)) l ON l.name = s.name
          WHERE s.type = 'index' AND s.sql IS NOT NULL ORDER BY s.name
          """
        ) { row in
          let (index, isUnique): (String, Bool) = (try row.next(), try row.next())
          let text = (try row.next() as String).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
          let definition = text.firstRange(of: " ON \(name) ").map { text[$0.upperBound...] }
          return Index(name: index, isUnique: isUnique, definition: String(definition ?? ""))
        }
        return table
      }
    }
  }

  private static func text(_ tables: [Table]) -> String {
    let uses = IndexUses.kept()
    var lines = introduction
    lines += ["", tables.map { "[\($0.name)](#\($0.name))" }.joined(separator: " · ")]
    for table in tables {
      lines += [
        "", "## \(table.name)", "", "| Column | Type | Null | Default |", "|---|---|---|---|",
      ]
      for column in table.columns {
        let name = "`\(column.name)`" + (column.key > 0 ? ", key" : "")
        let isNull = !column.isRequired && column.key == 0
        lines.append(
          "| \(name) | \(column.type.lowercased()) | \(isNull ? "yes" : "no") "
            + "| \(column.standard.map { "`\($0)`" } ?? "") |")
      }
      guard !table.indexes.isEmpty else { continue }
      lines += ["", "| Index | On | Serves |", "|---|---|---|"]
      for index in table.indexes {
        let use = uses[index.name].map { "`\(shortened($0))`" }
        let serves = [index.isUnique ? "unique values" : nil, use].compactMap { $0 }
        lines.append(
          "| `\(index.name)` | `\(cell(index.definition))` | \(serves.joined(separator: "; ")) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns a statement without its selected columns.
  private static func shortened(_ statement: String) -> String {
    guard statement.hasPrefix("SELECT "), let from = statement.firstRange(of: " FROM ") else {
      return cell(statement)
    }
    return cell("SELECT …" + statement[from.lowerBound...])
  }

  private static func cell(_ text: String) -> String {
    text.replacing("|", with: "\\|").replacing("`", with: "'")
  }

  private static let introduction = """
    # Database schema

    The tables of a data folder's `countersign.sqlite`, with each index and a statement that it
    serves. The schema isn't an interface: it changes with any version, and only the server may write
    to it.

    Times are microseconds since 1970; columns that end with `_s` count seconds, and those that end
    with `_day` days. Columns that begin with `sealed_` are encrypted with a key derived from the master
    key.

    A test generates this page from a migrated database, and fails if an index has no recorded statement.
    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
