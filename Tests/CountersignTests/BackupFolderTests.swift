import Foundation
import Identity
import Synchronization
import Testing

@testable import countersign

@Suite struct BackupFolderTests {
  private static let noon = Instant(seconds: 1_795_262_400)

  /// Runs a test with a folder of backups from the last days, and files with other names.
  private func withBackups(_ days: Int, _ body: (BackupFolder) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = BackupFolder(path: path)
    for day in 0..<days {
      let file = folder.file(at: Self.noon.advanced(bySeconds: Int64(-86_400 * day)))
      _ = FileManager.default.createFile(atPath: file, contents: Data("backup".utf8))
    }
    for name in [
      "monday.sqlite", "countersign-old.sqlite", "countersign-2026.sqlite",
      "countersign-20261321T120000Z.sqlite", "countersign-2026-11-01T12:00:00Z.sqlite",
    ] {
      _ = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data())
    }
    try body(folder)
  }

  @Test
  func `a link to a folder is a folder, and what interrupted backups left is deleted`() throws {
    try withBackups(1) { folder in
      let files = FileManager.default
      let link = folder.path + "-link"
      try files.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
      defer { try? files.removeItem(atPath: link) }
      #expect(BackupFolder(path: link).exists)
      let backup = folder.file(at: Self.noon)
      let later = folder.file(at: Self.noon.advanced(bySeconds: 1))
      let partials = [backup + ".partial-1", backup + ".partial", later + ".partial"]
      let other = "\(folder.path)/monday.sqlite.partial"
      for file in partials + [other] { _ = files.createFile(atPath: file, contents: Data()) }
      // A backup in progress holds this lock.
      let lock = try #require(try FolderLock(path: later + ".partial", isShared: false))
      #expect(
        InterruptedFiles.files(in: folder.path, prefix: "")
          == [partials[1], partials[0], other])
      folder.deleteInterrupted()
      #expect(partials.map(files.fileExists) == [false, false, true])
      #expect(files.fileExists(atPath: backup) && files.fileExists(atPath: other))
      lock.release()
    }
  }

  @Test func `a backup is named by its time in UTC`() {
    let file = BackupFolder(path: "/backups").file(at: Self.noon)
    #expect(file == "/backups/countersign-20261121T120000Z.sqlite")
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["", ".partial"])
  func `a second backup in the same second has the name of a later one`(_ suffix: String)
    async throws
  {
    try await withFolder { path in
      let folder = BackupFolder(path: path)
      let looks = Mutex(0)
      let clock = WallClock {
        // Two looks are in the same second.
        let look = looks.withLock { looks in
          looks += 1
          return looks
        }
        return Self.noon.advanced(bySeconds: look > 2 ? 1 : 0)
      }
      let taken = folder.file(at: Self.noon) + suffix
      _ = FileManager.default.createFile(atPath: taken, contents: Data())
      let file = try await folder.newFile(clock)
      #expect(file == folder.file(at: Self.noon.advanced(bySeconds: 1)))
    }
  }

  @Test func `the newest backups and files with other names are kept`() throws {
    try withBackups(5) { folder in
      let deleted = try folder.deleteAllBut(newest: 2, at: Self.noon).map {
        $0.dropFirst(folder.path.count + 1)
      }
      let days = ["17", "18", "19"].map { "countersign-202611\($0)T120000Z.sqlite" }
      #expect(deleted.map(String.init) == days)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.count == 7)
      #expect(folder.newest(at: Self.noon) == Self.noon)
    }
  }

  @Test func `a backup from while the clock was ahead is neither counted nor deleted`() throws {
    try withBackups(5) { folder in
      let now = Self.noon.advanced(bySeconds: -2 * 86_400)
      #expect(folder.newest(at: now) == now)
      let deleted = try folder.deleteAllBut(newest: 2, at: now)
      #expect(deleted == [folder.file(at: now.advanced(bySeconds: -2 * 86_400))])
    }
  }

  @Test func `a copy that can't be verified replaces older ones in its folder`() throws {
    try withBackups(2) { folder in
      let files = FileManager.default
      func unverified(_ day: Int64) -> String {
        folder.file(at: Self.noon.advanced(bySeconds: 86_400 * day)) + ".unverified"
      }
      let other = "\(folder.path)/monday.sqlite.unverified"
      for file in [unverified(-2), unverified(-1), unverified(2), other] {
        _ = files.createFile(atPath: file, contents: Data("copy".utf8))
      }
      let backup = folder.file(at: Self.noon.advanced(bySeconds: 86_400))
      _ = files.createFile(atPath: backup + ".partial", contents: Data("draft".utf8))
      BackupFolder.keepUnverified(backup + ".partial", of: backup)
      #expect(folder.unverified == [unverified(1), unverified(2), other])
      let copy = try String(contentsOfFile: unverified(1), encoding: .utf8)
      #expect(copy == "draft")
      #expect(!files.fileExists(atPath: backup + ".partial"))
      #expect(files.fileExists(atPath: folder.file(at: Self.noon)))
    }
  }

  @Test func `an empty file is neither counted nor deleted`() throws {
    try withBackups(3) { folder in
      let empty = folder.file(at: Self.noon)
      try Data().write(to: URL(filePath: empty))
      #expect(folder.newest(at: Self.noon) == Self.noon.advanced(bySeconds: -86_400))
      let deleted = try folder.deleteAllBut(newest: 1, at: Self.noon)
      #expect(deleted == [folder.file(at: Self.noon.advanced(bySeconds: -2 * 86_400))])
      #expect(FileManager.default.fileExists(atPath: empty))
    }
  }

  @Test func `nothing is deleted while there are few backups`() throws {
    try withBackups(2) { folder in
      let deleted = try folder.deleteAllBut(newest: 14, at: Self.noon)
      #expect(deleted == [])
    }
  }

  @Test(arguments: [(0, 0), (25, 0), (26, 1), (90, 1)])
  func `a backup that is older than the limit is reported`(hours: Int, warnings: Int) throws {
    try withBackups(1) { folder in
      #expect(said(about: folder, hoursLater: hours).count == warnings)
    }
  }

  @Test func `a folder without backups is reported`() throws {
    try withBackups(0) { folder in
      let said = said(about: folder, hoursLater: 0)
      #expect(said.count == 1 && said[0].contains(folder.path))
    }
  }

  @Test(arguments: [(0, 0), (25, 0), (26, 1), (90, 1)])
  func `a new instance needs no backup until the limit has passed`(hours: Int, warnings: Int) throws
  {
    try withBackups(0) { folder in
      #expect(said(about: folder, hoursLater: hours, created: Self.noon).count == warnings)
    }
  }

  private func said(
    about folder: BackupFolder, hoursLater hours: Int, created: Instant = Instant(seconds: 0)
  ) -> [String] {
    let said = Texts()
    var watch = BackupWatch(folder: folder, limit: 26)
    watch.created = created
    watch.now = { Self.noon.advanced(bySeconds: Int64(hours * 3_600)) }
    watch.say = { message in said.add(OperatorText.string(message)) }
    watch.check()
    return said.all
  }

  private final class Texts: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
  }
}
