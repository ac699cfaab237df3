import Database
import DatabaseSQLite
import Foundation
import TestDatabases
import Testing

struct ReadOnlyTests {
  /// Returns the content of each file in a folder.
  private func files(_ folder: String) throws -> [String: String] {
    let manager = FileManager.default
    var found: [String: String] = [:]
    for name in try manager.contentsOfDirectory(atPath: folder) where !name.hasSuffix("-shm") {
      let data = manager.contents(atPath: "\(folder)/\(name)") ?? Data()
      found[name] = data.base64EncodedString()
    }
    return found
  }

  @Test func `a database with a log is read without being changed`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        try await database.insert("in the log")
        // Simulates a crash: the log has data that isn't in the database file.
        let path = folder + "/left.sqlite"
        let source = try #require(await database.file)
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix)
        }
        let before = try files(folder)
        let copy = try ReadOnlySQLiteDatabase(path: path)
        let names = try await copy.read { connection in
          try connection.all("SELECT name FROM person") { try $0.next() as String }
        }
        #expect(names == ["in the log"])
        #expect(
          try await code { _ = try await copy.write { try $0.run("DELETE FROM person") } }
            == .readOnly)
        await copy.close()
        #expect(try files(folder) == before)

        let alone = try ReadOnlySQLiteDatabase(path: path, ignoresLog: true)
        let count = try? await alone.read { connection in
          try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
        }
        #expect((count ?? 0) == 0)
        await alone.close()
        #expect(try files(folder) == before)
      }
    }
  }

  @Test func `the log of a database that a link leads to is read`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        try await database.insert("in the log")
        let manager = FileManager.default
        let source = try #require(await database.file)
        try manager.createDirectory(
          atPath: folder + "/elsewhere", withIntermediateDirectories: false)
        for suffix in ["", "-wal"] {
          try manager.copyItem(atPath: source + suffix, toPath: "\(folder)/elsewhere/left\(suffix)")
        }
        let link = folder + "/link.sqlite"
        try manager.createSymbolicLink(atPath: link, withDestinationPath: "elsewhere/left")
        let linked = try ReadOnlySQLiteDatabase(path: link)
        let names = try await linked.read { connection in
          try connection.all("SELECT name FROM person") { try $0.next() as String }
        }
        #expect(names == ["in the log"])
        await linked.close()
      }
    }
  }

  @Test func `a file that no process has open gets no log, and one that was opened is noticed`()
    async throws
  {
    try await withDatabase { database in
      try await withFolder { folder in
        let path = folder + "/alone.sqlite"
        try await database.insert("somebody")
        try await database.backup(to: path)
        func count(_ database: ReadOnlySQLiteDatabase) async throws -> Int? {
          try await database.read { connection in
            try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
          }
        }
        let alone = try ReadOnlySQLiteDatabase(path: path)
        #expect(try await count(alone) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["alone.sqlite"])
        #expect(!alone.isOvertaken)
        let writer = try SQLiteDatabase(path: path, readers: 1)
        try await writer.insert("somebody else")
        #expect(alone.isOvertaken)
        await alone.close()
        // With the log that the writer has open.
        let beside = try ReadOnlySQLiteDatabase(path: path)
        #expect(try await count(beside) == 2)
        #expect(!beside.isOvertaken)
        await beside.close()
        await writer.close()
      }
    }
  }

  @Test func `a file name can contain any characters`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        let path = folder + "/50% ?mode=rw#ä.sqlite"
        try await database.insert("somebody")
        try await database.backup(to: path)
        let copy = try ReadOnlySQLiteDatabase(path: path, ignoresLog: true)
        let count = try await copy.read { connection in
          try connection.first("SELECT count(*) FROM person") { try $0.next() as Int }
        }
        #expect(count == 1)
        await copy.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
      }
    }
  }
}

extension SQLiteDatabase {
  /// The file of the database.
  fileprivate var file: String? {
    get async {
      try? await read { connection in
        try connection.first("SELECT file FROM pragma_database_list WHERE name = 'main'") {
          try $0.next() as String
        }
      }
    }
  }
}
