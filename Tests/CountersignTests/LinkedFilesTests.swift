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
}
