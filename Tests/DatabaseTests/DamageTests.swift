import Database
import Foundation
import TestDatabases
import Testing

@testable import DatabaseSQLite

/// The first statement that finds a file damaged says so to everyone.
struct DamageTests {
  /// Runs a test with a database of some hundred pages, none of which is in memory.
  private func withPages(_ body: (SQLiteDatabase, _ path: String) async throws -> Void) async throws
  {
    try await withFolder { folder in
      let path = folder + "/a.sqlite"
      let filled = try SQLiteDatabase(path: path, readers: 1)
      try await filled.write { connection in
        try connection.runScript("CREATE TABLE a (x TEXT NOT NULL) STRICT")
        for _ in 0..<2_000 {
          try connection.run("INSERT INTO a VALUES (\(String(repeating: "x", count: 900)))")
        }
      }
      await filled.close()
      let database = try SQLiteDatabase(path: path, readers: 1)
      do { try await body(database, path) } catch {
        await database.close()
        throw error
      }
      await database.close()
    }
  }

  /// Overwrites all pages but the first, as a copy of another file would, beside the log.
  private func overwrite(_ path: String) throws {
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 4096))
    try file.close()
  }

  private func read(_ database: SQLiteDatabase) async throws -> Int? {
    try await database.read { connection in
      try connection.first("SELECT count(*) FROM a WHERE x > ''") { try $0.next() as Int }
    }
  }

  @Test(arguments: ["read", "write"])
  func `the first error of damage is kept, and reported once`(kind: String) async throws {
    try await withPages { database, path in
      #expect(database.damage == nil)
      try overwrite(path)
      for _ in 0..<3 {
        let failure = try await code {
          if kind == "read" {
            _ = try await read(database)
          } else {
            try await database.write { _ = try $0.run("UPDATE a SET x = x || 'y'") }
          }
        }
        #expect(failure == .corrupt)
      }
      let first = try #require(database.damage)
      #expect(first.code == .corrupt && first.message.contains("malformed"))
      var reported = database.damages.makeAsyncIterator()
      #expect(await reported.next()?.message == first.message)
    }
  }

  @Test func `other errors, and a search index that doesn't match, aren't damage`() throws {
    let mark = DamageMark()
    // SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CONSTRAINT, SQLITE_CORRUPT_VTAB
    for code: Int32 in [5, 10, 13, 19, 267] { mark.note(unsafe .sqlite(code, nil)) }
    #expect(mark.error == nil)
    // SQLITE_NOTADB and SQLITE_CORRUPT, of which the first counts
    for code: Int32 in [26, 11] { mark.note(unsafe .sqlite(code, nil)) }
    #expect(mark.error?.code == .notADatabase)
  }
}
