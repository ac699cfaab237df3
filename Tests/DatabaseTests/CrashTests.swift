import Database
import DatabaseSQLite
import Foundation
import TestDatabases
import Testing

struct CrashTests {
  @Test func `acknowledged writes survive a crash`() async throws {
    try await withFolder { folder in
      let path = folder + "/test.sqlite"
      let acknowledged = folder + "/acknowledged"
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, acknowledged = acknowledged as String] in
        let database = try SQLiteDatabase(path: path)
        try await database.write { try $0.runScript("CREATE TABLE person (name TEXT)") }
        try Data().write(to: URL(filePath: acknowledged))
        let file = try FileHandle(forWritingTo: URL(filePath: acknowledged))
        await withTaskGroup { group in
          for client in 0..<32 {
            group.addTask {
              for number in 0..<1000 {
                let name = "\(client)-\(number)"
                guard (try? await database.insert(name)) != nil else { return }
                // A line is appended by a single system call, so it's never written in part.
                file.write(Data("\(name)\n".utf8))
              }
            }
          }
          group.addTask {
            while database.statistics.writes < 2000 { await Task.yield() }
            kill(getpid(), SIGKILL)
          }
        }
      }
      let names = try String(contentsOfFile: acknowledged, encoding: .utf8).split(separator: "\n")
      #expect(names.count > 1000)
      let database = try SQLiteDatabase(path: path)
      let stored = Set(try await database.names())
      #expect(names.allSatisfy { stored.contains(String($0)) })
      await database.close()
    }
  }
}
