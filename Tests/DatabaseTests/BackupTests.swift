import Database
import DatabaseSQLite
import Foundation
import Glibc
import TestDatabases
import Testing

struct BackupTests {
  @Test func `a backup during writes is complete and consistent`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        // Each write keeps both tables the same size; an inconsistent copy wouldn't.
        let writing = Task {
          for number in 0..<400 {
            try await database.write { connection in
              try connection.run("INSERT INTO person (name) VALUES (\("person \(number)"))")
              try connection.run(
                """
                INSERT INTO pet (owner, name, photo)
                VALUES (1, \("pet \(number)"), \([UInt8](repeating: 1, count: 3000)))
                """)
            }
          }
        }
        for number in 0..<5 {
          let path = folder + "/copy\(number).sqlite"
          try await database.backup(to: path)
          let copy = try SQLiteDatabase(path: path, readers: 1)
          let (people, pets, check) = try await copy.read { connection in
            (
              try connection.first("SELECT count(*) FROM person") { try $0.next() as Int },
              try connection.first("SELECT count(*) FROM pet") { try $0.next() as Int },
              try connection.all("SELECT integrity_check FROM pragma_integrity_check") {
                try $0.next() as String
              }
            )
          }
          #expect(people == pets)
          #expect(check == ["ok"])
          await copy.close()
          let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
          #expect(mode as? Int == 0o600)
        }
        try await writing.value
        #expect(try await database.count() == 400)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.sorted() == (0..<5).map { "copy\($0).sqlite" })
      }
    }
  }

  @Test func `a copy gets its name after it was verified, or never`() async throws {
    struct Refused: Error {}
    try await withDatabase { database in
      try await withFolder { folder in
        let path = folder + "/copy.sqlite"
        func names() throws -> [String] {
          try FileManager.default.contentsOfDirectory(atPath: folder)
        }
        await #expect(throws: Refused.self) {
          try await database.backup(to: path) { _ in throw Refused() }
        }
        #expect(try names() == [])
        let seen = try await database.backup(to: path) { copy in
          let names = try FileManager.default.contentsOfDirectory(atPath: folder)
          let opened = try ReadOnlySQLiteDatabase(path: copy, ignoresLog: true)
          #expect(
            try await opened.read { try $0.first("SELECT 1") { try $0.next() as Int } } == 1)
          await opened.close()
          return names
        }
        #expect(seen == ["copy.sqlite\(PartialFile.suffix)"])
        #expect(try names() == ["copy.sqlite"])
      }
    }
  }

  @Test func `an existing file isn't overwritten`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        let path = folder + "/copy.sqlite"
        try "precious".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try await code { try await database.backup(to: path) } == .exists)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
      }
    }
  }

  @Test func `what an interrupted backup left is replaced, unless a process is writing it`()
    async throws
  {
    try await withDatabase { database in
      try await withFolder { folder in
        let path = folder + "/copy.sqlite"
        let draft = path + PartialFile.suffix
        try "half".write(toFile: draft, atomically: false, encoding: .utf8)
        let writing = try #require(FileHandle(forUpdatingAtPath: draft))
        #expect(flock(writing.fileDescriptor, LOCK_EX) == 0)
        #expect(PartialFile.isBeingWritten(draft))
        #expect(try await code { try await database.backup(to: path) } == .busy)
        #expect(flock(writing.fileDescriptor, LOCK_UN) == 0)
        try writing.close()
        #expect(!PartialFile.isBeingWritten(draft))
        try await database.backup(to: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["copy.sqlite"])
      }
    }
  }

  @Test func `a missing folder is reported, and no files are left behind`() async throws {
    try await withDatabase { database in
      try await withFolder { folder in
        let failure = try await code { try await database.backup(to: folder + "/no/copy") }
        #expect(failure == .cannotOpen)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      }
    }
  }
}
