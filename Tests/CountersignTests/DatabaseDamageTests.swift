import Database
import DatabaseSQLite
import Foundation
import Synchronization
import Testing

@testable import countersign

struct DatabaseDamageTests {
  @Test func `an overwritten file isn't ready from the first error on, which is logged once`()
    async throws
  {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      let database = try #require(instance.database as? SQLiteDatabase)
      let lines = Mutex<[String]>([])
      let log = Log(
        .text,
        write: { line, _ in
          lines.withLock { $0.append(line) }
          return true
        })
      let watch = Task { await IntegrityWatch(instance, log: log).reportDamage() }
      let readiness = Readiness(
        instance.identity, folder, environment: [:], certificate: nil, mail: nil, auditFile: nil,
        file: nil, isDamaged: { database.damage != nil }, hasSpace: { true },
        log: Log(.text, write: { _, _ in true }))
      let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
      let size = try file.seekToEnd()
      try file.seek(toOffset: 4096)
      try file.write(contentsOf: Data(repeating: 0xa5, count: Int(size) - 4096))
      try file.close()
      for _ in 0..<3 {
        await #expect(throws: (any Error).self) {
          try await database.read { connection in
            try connection.first("SELECT count(*) FROM support_hold") { try $0.next() as Int }
          }
        }
      }
      #expect(await readiness.state().failed.contains(.integrity))
      while lines.withLock({ $0.isEmpty }) { await Task.yield() }
      watch.cancel()
      await watch.value
      let damage = lines.withLock { $0.filter { $0.contains("malformed") } }
      #expect(damage.count == 1 && damage[0].contains("restore the newest backup"))
      await database.close()
    }
  }
}
