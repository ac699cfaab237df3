import Crypto
import Database
import Foundation
import Identity
import Testing

@testable import countersign

struct KeyRotationTaskTests {
  @Test func `a rotation that a full disk stopped begins when there is space`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      let log = Log(.text, write: { _, _ in true })
      let task = KeyRotationTask(instance, folder, environment: [:], log: log)
      // Refuses what a full disk refuses.
      try await instance.database.write { connection in
        try connection.runScript(
          """
          CREATE TRIGGER full_disk BEFORE INSERT ON master_key
          BEGIN SELECT RAISE(ABORT, 'full'); END
          """)
      }
      try folder.store(instance.keys.rotated(random: .system))
      for _ in 0..<2 { await #expect(throws: KeyError.self) { try await task.look() } }
      #expect(instance.keys.ids.count == 2)
      try await instance.database.write { try $0.runScript("DROP TRIGGER full_disk") }
      _ = try await task.look()
      let newest = try #require(try await instance.identity.masterKeys.list().first)
      #expect(newest.isSealing && newest.since != nil)
      await instance.database.close()
    }
  }
}
