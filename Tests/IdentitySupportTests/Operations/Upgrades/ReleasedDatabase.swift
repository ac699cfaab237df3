import Crypto
import Database
import DatabaseSQLite
import Foundation
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// The database of a data folder that 0.2.0 created, and its key;
/// `Tests/Fixtures/releases/README.md` describes them.
struct ReleasedDatabase {
  let database: any Database
  let keys: KeyRing

  /// Runs a test with a copy of the database, which nothing has migrated yet.
  static func with(_ body: (ReleasedDatabase) async throws -> Void) async throws {
    try await withFolder { folder in
      try unpack(to: folder)
      let data = "\(folder)/countersign-0.2.0"
      let keys = try KeyRing(
        text: try String(contentsOfFile: data + "/master.key", encoding: .utf8))
      guard TestDatabase.isSQLite else {
        let script = try script(in: folder)
        return try await withEmptyDatabase { database in
          try await database.write { try $0.runScript(script) }
          try await body(ReleasedDatabase(database: database, keys: keys))
        }
      }
      let database = try SQLiteDatabase(path: data + "/countersign.sqlite")
      do {
        try await body(ReleasedDatabase(database: database, keys: keys))
      } catch {
        await database.close()
        throw error
      }
      await database.close()
    }
  }

  /// Returns the script that creates the database in PostgreSQL.
  static func script() async throws -> String {
    try await withFolder { folder in
      try unpack(to: folder)
      return try script(in: folder)
    }
  }

  private static func script(in folder: String) throws -> String {
    try String(contentsOfFile: "\(folder)/countersign-0.2.0.sql", encoding: .utf8)
  }

  private static func unpack(to folder: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../..").standardized
    let tar = Process()
    tar.executableURL = URL(filePath: "/usr/bin/tar")
    tar.arguments = [
      "-xzf", tests.appending(path: "Fixtures/releases/0.2.0.tar.gz").path, "-C", folder,
    ]
    try tar.run()
    tar.waitUntilExit()
    try #require(tar.terminationStatus == 0)
  }

  func identity() throws -> Identity {
    try Identity(
      database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
      clock: FixedClock().wall)
  }

  /// Reads all rows of all tables: for each table its columns, and for each row a value per column.
  func contents() async throws -> [String: [[String: SQLValue]]] {
    try await database.read { connection in
      var contents: [String: [[String: SQLValue]]] = [:]
      for table in try connection.catalog.tables(connection) {
        var (reader, found) = (TableReader(table, table.columns), [[String: SQLValue]]())
        while true {
          let rows = try reader.rows(connection)
          guard reader.advance(past: rows) else { break }
          found += rows.map { row in
            Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.text), row))
          }
        }
        contents[table.name.text] = found
      }
      return contents
    }
  }
}
