import Database
import DatabaseSQLite
import Foundation
import TestDatabases
import Testing

struct FullDiskTests {
  private static let photo = [UInt8](repeating: 7, count: 10_000)

  private static func addPet(_ number: Int, to database: SQLiteDatabase) async throws {
    try await database.write { connection in
      try connection.run("INSERT INTO pet VALUES (1, \("pet \(number)"), \(photo))")
    }
  }

  private static func pets(in database: SQLiteDatabase) async throws -> [String] {
    try await database.read { connection in
      try connection.all("SELECT name FROM pet ORDER BY name") { try $0.next() }
    }
  }

  @Test func `writes that don't fit fail, and the others are stored`() async throws {
    try await withDatabase(maximumPages: 60) { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<64).map { number in
        Task.immediate { try await Self.addPet(number, to: database) }
      }
      try await held.release()
      var stored: [String] = []
      for (number, task) in tasks.enumerated() {
        switch try await code({ try await task.value }) {
        case nil: stored.append("pet \(number)")
        case let failure: #expect(failure == .full)
        }
      }
      #expect(stored.count > 5 && stored.count < 30)
      #expect(try await Self.pets(in: database) == stored.sorted())
      let oldest = stored.prefix(2)
      // A small write still fits on a page with free space, and a deletion frees more.
      try await database.insert("small")
      try await database.write { try $0.run("DELETE FROM pet WHERE name IN (\(list: oldest))") }
      try await Self.addPet(100, to: database)
      #expect(try await Self.pets(in: database).count == stored.count - 1)
    }
  }

  @Test func `a write that's too large doesn't affect others in its group`() async throws {
    try await withDatabase(maximumPages: 60) { database in
      let held = HeldWrite(database)
      await held.begun.wait()
      let tasks = (0..<10).map { number in
        Task.immediate {
          try await database.write { connection in
            let size = number == 4 ? 1_000_000 : 10
            let photo = [UInt8](repeating: 1, count: size)
            try connection.run("INSERT INTO pet VALUES (1, \("pet \(number)"), \(photo))")
          }
        }
      }
      try await held.release()
      for (number, task) in tasks.enumerated() {
        let failure = try await code { try await task.value }
        #expect(failure == (number == 4 ? .full : nil))
      }
      #expect(try await Self.pets(in: database).count == 9)
    }
  }

  /// Runs in a separate process, since the file size limit applies to the whole process.
  @Test func `while the system refuses writes, reads continue; writes resume later`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      try await withDatabase { database in
        try await database.insert("held")
        try await Self.addPet(0, to: database)
        limitFiles(to: 64 * 1024)
        for number in 1..<20 {
          let failure = try await code { try await Self.addPet(number, to: database) }
          guard let failure else { continue }
          #expect(failure == .ioError || failure == .full)
        }
        let stored = try await Self.pets(in: database)
        #expect(stored.count >= 1 && stored.count < 10)
        limitFiles(to: 64 * 1024 * 1024)
        try await Self.addPet(30, to: database)
        #expect(try await Self.pets(in: database).count == stored.count + 1)
        let check = try await database.read { connection in
          try connection.all("SELECT integrity_check FROM pragma_integrity_check") {
            try $0.next() as String
          }
        }
        #expect(check == ["ok"])
      }
    }
  }
}

private func limitFiles(to size: Int) {
  var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t.max)
  unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}
