import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity
import Testing

@testable import countersign

/// The data folder of the last release, as it created it, can be used by this version; an older one
/// is refused.
///
/// `Tests/Fixtures/releases/README.md` describes the folders.
struct ReleaseTests {
  /// Runs a test with a copy of a release's data folder.
  private func withRelease(_ version: String, _ body: (DataFolder) async throws -> Void)
    async throws
  {
    try await withFolder { folder in
      let tar = Process()
      tar.executableURL = URL(filePath: "/usr/bin/tar")
      tar.arguments = [
        "-xzf", "\(packageFolder)/Tests/Fixtures/releases/\(version).tar.gz", "-C", folder,
      ]
      try tar.run()
      tar.waitUntilExit()
      try #require(tar.terminationStatus == 0)
      try await body(DataFolder(path: "\(folder)/countersign-\(version)"))
    }
  }

  /// Counts the rows of tables that an upgrade must keep.
  private func counts(_ path: String) async throws -> [String: Int] {
    let database = try ReadOnlySQLiteDatabase(path: path)
    let found = try await database.read { connection in
      var found: [String: Int] = [:]
      let tables =
        [
          "account": "SELECT count(*) FROM account", "factor": "SELECT count(*) FROM factor",
          "audit": "SELECT count(*) FROM audit", "scope": "SELECT count(*) FROM scope",
          "administrator": "SELECT count(*) FROM administrator",
          "code_attempt": "SELECT count(*) FROM code_attempt",
        ] as [String: SQL]
      for (table, sql) in tables { found[table] = try connection.first(sql) { try $0.next() } }
      return found
    }
    await database.close()
    return found
  }

  private static let kept = [
    "account": 3, "factor": 2, "audit": 39, "scope": 3, "administrator": 2, "code_attempt": 3,
  ]

  @Test func `a data folder of 0.2.0 is migrated with all its users, factors, and audit log`()
    async throws
  {
    try await withRelease("0.2.0") { folder in
      let before = try await counts(folder.database)
      let instance = try await Instance.existing(folder, migrates: true)
      let pending = try await instance.identity.pendingMigrations()
      let sample = try await SecretSample.take(instance.database, keys: instance.keys)
      await instance.database.close()
      let after = try await counts(folder.database)
      #expect(before == Self.kept)
      // The upgrade has an entry.
      #expect(after == Self.kept.merging(["audit": 40]) { $1 })
      #expect(pending == [])
      #expect(sample.readable == 2 && sample.unreadable == 0)
    }
  }

  @Test func `the backup before an upgrade has the schema of the release`() async throws {
    try await withRelease("0.2.0") { folder in
      let database = try folder.openFile()
      let before = try await Identity.pendingMigrations(of: database)
      await database.close()
      let instance = try await Instance.existing(folder, migrates: true)
      await instance.database.close()
      let files = UpgradeBackup(folder: folder).files
      try #require(files.count == 1)
      let backup = try ReadOnlySQLiteDatabase(path: files[0], ignoresLog: true)
      let pending = try await Identity.pendingMigrations(of: backup)
      await backup.close()
      let held = try await counts(files[0])
      #expect(pending == before)
      #expect(pending.contains("m0069_upgrade_of_0_2_0"))
      #expect(held == Self.kept)
      // Nothing is pending, so the next start creates no other backup.
      let again = try await Instance.existing(folder, migrates: true)
      await again.database.close()
      #expect(UpgradeBackup(folder: folder).files == files)
    }
  }

  @Test func `backups of two upgrades within a second have different names`() async throws {
    try await withFolder { folder in
      let backup = UpgradeBackup(folder: DataFolder(path: folder))
      let time = Instant(seconds: 1_767_225_600)
      var created: [String] = []
      for _ in 0..<3 {
        let file = backup.freeFile(at: time)
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        created.append(file)
      }
      #expect(Set(created).count == 3)
      #expect(backup.files == created)
    }
  }

  @Test func `an upgrade can skip the backup`() async throws {
    try await withRelease("0.2.0") { folder in
      let instance = try await Instance.existing(folder, migrates: true, backup: .skip)
      await instance.database.close()
      #expect(UpgradeBackup(folder: folder).files == [])
    }
  }

  @Test func `a dry run changes nothing`() async throws {
    try await withRelease("0.2.0") { folder in
      let words = ["migrate", "--data", folder.path, "--dry-run"]
      let code = await Countersign.run(words, environment: [:])
      let database = try ReadOnlySQLiteDatabase(path: folder.database)
      let pending = try await Identity.pendingMigrations(of: database)
      await database.close()
      #expect(code == 0)
      #expect(pending.contains("m0069_upgrade_of_0_2_0"))
      #expect(UpgradeBackup(folder: folder).files == [])
    }
  }

  @Test func `a restored backup of 0.2.0 is migrated`() async throws {
    try await withRelease("0.2.0") { folder in
      let upgraded = await Countersign.run(["migrate", "--data", folder.path], environment: [:])
      let files = UpgradeBackup(folder: folder).files
      try #require(files.count == 1)
      let restored = await Countersign.run(
        ["restore", "--data", folder.path, files[0]], environment: [:])
      let held = try await counts(folder.database)
      #expect(upgraded == 0)
      #expect(restored == 0)
      #expect(held["factor"] == 2)
      #expect(held["account"] == 3)
    }
  }

  @Test func `a data folder of 0.1.0 is refused with what to do, and stays as it is`() async throws
  {
    try await withRelease("0.1.0") { folder in
      let before = try Data(contentsOf: URL(filePath: folder.database))
      for migrates in [true, false] {
        let error = await #expect(throws: ConfigurationError.self) {
          _ = try await Instance.existing(folder, migrates: migrates)
        }
        let text = error?.problems.map { OperatorText.string($0) }.joined() ?? ""
        #expect(text.contains("Open it once with Countersign 0.2.0"))
      }
      for words in [
        ["migrate", "--data", folder.path], ["migrate", "--data", folder.path, "--dry-run"],
        ["restore", "--data", folder.path, folder.database],
      ] {
        #expect(await Countersign.run(words, environment: [:]) != 0, "\(words)")
      }
      #expect(await Countersign.run(["doctor", "--data", folder.path], environment: [:]) == 2)
      #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
      #expect(UpgradeBackup(folder: folder).files == [])
    }
  }
}
