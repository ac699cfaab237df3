import Crypto
import Foundation
import Testing

@testable import countersign

/// Files of the data folder that are elsewhere, with a link to them in it.
struct LinkedFilesTests {
  @Test func `a new master key replaces the one that a link leads to`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let files = FileManager.default
      let safe = "\(parent)/safe"
      try files.createDirectory(atPath: safe, withIntermediateDirectories: false)
      try files.moveItem(atPath: folder.key, toPath: "\(safe)/countersign.key")
      let target = "../safe/countersign.key"
      try files.createSymbolicLink(atPath: folder.key, withDestinationPath: target)
      let new = KeyRing(random: .system)
      try folder.store(new)
      #expect(try files.destinationOfSymbolicLink(atPath: folder.key) == target)
      #expect(try folder.keptKeys()?.ids == new.ids)
      #expect(try files.contentsOfDirectory(atPath: safe) == ["countersign.key"])
    }
  }

  @Test(.enabled(if: geteuid() == 0, "Only root can change owners."))
  func `root replaces no file of its own to which the owner of the data folder made a link`()
    async throws
  {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let files = FileManager.default
      let target = "\(parent)/of-root"
      try files.moveItem(atPath: folder.key, toPath: target)
      try files.createSymbolicLink(atPath: folder.key, withDestinationPath: target)
      try files.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: folder.path)
      let before = try Data(contentsOf: URL(filePath: target))
      #expect(throws: ConfigurationError.self) { try folder.store(KeyRing(random: .system)) }
      #expect(try Data(contentsOf: URL(filePath: target)) == before)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "Only root can change owners."))
  func `root replaces the key in a folder of the data folder's owner, whatever its group`()
    async throws
  {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let files = FileManager.default
      let safe = "\(parent)/safe"
      try files.createDirectory(atPath: safe, withIntermediateDirectories: false)
      try files.moveItem(atPath: folder.key, toPath: "\(safe)/countersign.key")
      try files.createSymbolicLink(
        atPath: folder.key, withDestinationPath: "\(safe)/countersign.key")
      for (path, group) in [(folder.path, 65_534), (safe, 65_533)] {
        try files.setAttributes(
          [.ownerAccountID: 65_534, .groupOwnerAccountID: group], ofItemAtPath: path)
      }
      let new = KeyRing(random: .system)
      try folder.store(new)
      #expect(try folder.keptKeys()?.ids == new.ids)
    }
  }
}
