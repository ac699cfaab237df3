import Database
import DatabaseSQLite
import TestDatabases
import Testing

/// Tests that a file can be written anew while it's in use.
struct CompactTests {
  @Test func `a file is written anew unless it's too large, and keeps its rows`() async throws {
    try await withDatabase { database in
      let name = String(repeating: "x", count: 1_000)
      for number in 0..<200 { try await database.insert("\(name) \(number)") }
      try await database.write { connection in
        _ = try connection.run("DELETE FROM person WHERE name NOT LIKE '% 7'")
      }
      let full = try await database.pages()
      try await database.compact(atMost: 4_096)
      #expect(try await database.pages() == full)
      try await database.compact(atMost: 64 << 20)
      #expect(try await database.pages() < full / 4)
      #expect(try await database.count() == 1)
      try await database.checkpoint()
      try await database.insert("next")
      #expect(try await database.count() == 2)
    }
  }
}

extension SQLiteDatabase {
  fileprivate func pages() async throws -> Int {
    try await read { connection in
      try connection.first("SELECT page_count FROM pragma_page_count") { try $0.next() } ?? 0
    }
  }
}
