import Crypto
import Database
import Foundation
import Identity
import Synchronization
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
      for _ in 0..<2 { await #expect(throws: DatabaseError.self) { try await task.look() } }
      #expect(instance.keys.ids.count == 2)
      try await instance.database.write { try $0.runScript("DROP TRIGGER full_disk") }
      _ = try await task.look()
      let newest = try #require(try await instance.identity.masterKeys.list().first)
      #expect(newest.isSealing && newest.since != nil)
      await instance.database.close()
    }
  }

  @Test(arguments: ["a random key", "the key from before a rotation"])
  func `a key that isn't the database's doesn't replace the server's`(_ kind: String) async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      let lines = Mutex<[String]>([])
      let log = Log(
        .text,
        write: { line, _ in
          lines.withLock { $0.append(line) }
          return true
        })
      let task = KeyRotationTask(instance, folder, environment: [:], log: log)
      let readiness = Readiness(
        instance.identity, folder, environment: [:], certificate: nil, mail: nil, auditFile: nil,
        file: nil, isDamaged: { false }, hasSpace: { true }, log: log)
      var other = KeyRing(random: .system)
      if kind == "the key from before a rotation" {
        other = try KeyRing(text: instance.keys.text.revealedText)
        try folder.store(instance.keys.rotated(random: .system))
        while try await task.look() {}
      }
      let ids = instance.keys.ids
      try folder.store(other)
      for _ in 0..<2 { _ = try await task.look() }
      #expect(instance.keys.ids == ids)
      #expect(lines.withLock { $0.count { $0.contains("the current master key") } } == 1)
      #expect(await readiness.state().warnings.contains(.keys))
      try folder.store(instance.keys)
      _ = try await task.look()
      #expect(instance.keys.ids == ids)
      await instance.database.close()
    }
  }
}
