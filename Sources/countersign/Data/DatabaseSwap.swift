import DatabaseSQLite
import Foundation
import Identity
import Localization

/// Replaces the current database with a restored one.
///
/// The restored database is created in a separate folder. Renaming that folder is the point of no
/// return: before it, the current database is untouched; after it, the next process that opens the
/// data folder finishes the swap. A crash therefore leaves the old database or the new one, and
/// never a database next to the log of another.
struct DatabaseSwap: Sendable {
  private static let draftName = "restore.draft"
  private static let readyPrefix = "restored-"
  private static let formerPrefix = "before-restore-"
  /// The files that SQLite keeps for one database, the database itself first.
  static let suffixes = ["", "-wal", "-shm"]

  let data: String
  /// Moves a file; replaced in tests to simulate a crash.
  var move: @Sendable (_ from: String, _ to: String) throws -> Void = { from, to in
    try DurableFiles.move(from, to: to)
  }

  var draft: String { "\(data)/\(Self.draftName)" }
  var draftDatabase: String { "\(draft)/countersign.sqlite" }

  /// Creates an empty folder for the restored database, replacing that of an interrupted restore.
  func begin() throws {
    try discard()
    try DurableFiles.createFolder(draft)
  }

  /// Removes the restored database before the point of no return.
  func discard() throws {
    guard FileManager.default.fileExists(atPath: draft) else { return }
    try FileManager.default.removeItem(atPath: draft)
  }

  /// Renames the draft folder, which is the point of no return.
  ///
  /// The restored database must be closed, with an empty log.
  ///
  /// - Throws: When a file can't be moved or synced; the current database is then untouched.
  func commit(stamp: String) throws {
    try DurableFiles.sync(draftDatabase)
    try DurableFiles.sync(draft)
    try move(draft, "\(data)/\(Self.readyPrefix)\(stamp)")
  }

  /// The folder to which a restore with this time moves the previous database.
  func former(stamp: some StringProtocol) -> String { "\(data)/\(Self.formerPrefix)\(stamp)" }

  /// Whether a restore has passed the point of no return and isn't finished.
  var isPending: Bool { ready != nil }

  /// The folders with the databases that restores replaced, oldest first.
  var formerDatabases: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
    return names.filter { name in
      name.hasPrefix(Self.formerPrefix)
        && Instant(fileStamp: name.dropFirst(Self.formerPrefix.count)) != nil
    }.sorted().map { "\(data)/\($0)" }
  }

  private var ready: String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
    return names.filter { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")
      return name.hasPrefix(Self.readyPrefix)
        && Instant(fileStamp: name.dropFirst(Self.readyPrefix.count)) != nil
        && attributes?[.type] as? FileAttributeType == .typeDirectory
    }.min()
  }

  /// Moves the current database aside and the restored one into place, continuing where an
  /// interrupted call stopped; returns the folder with the previous database, nil when nothing was
  /// pending.
  @discardableResult
  func finish() throws -> String? {
    guard let ready else { return nil }
    // The renamed draft folder, which must be durable before the current database is moved.
    try DurableFiles.sync(data)
    let files = FileManager.default
    let former = former(stamp: ready.dropFirst(Self.readyPrefix.count))
    let restored = "\(data)/\(ready)/countersign.sqlite"
    if files.fileExists(atPath: restored) {
      for suffix in Self.suffixes {
        let file = "\(data)/countersign.sqlite\(suffix)"
        guard files.fileExists(atPath: file) else { continue }
        try DurableFiles.createFolder(former)
        try move(file, "\(former)/countersign.sqlite\(suffix)")
      }
      if files.fileExists(atPath: former) { try DurableFiles.sync(former) }
      try DurableFiles.sync(data)
      try move(restored, "\(data)/countersign.sqlite")
      try DurableFiles.sync(data)
    }
    try files.removeItem(atPath: "\(data)/\(ready)")
    try DurableFiles.sync(data)
    return former
  }

  /// Does the same as ``finish()``, and explains its failure: the next command continues.
  @discardableResult
  func finishRestore() throws(ConfigurationError) -> String? {
    do { return try finish() } catch {
      throw ConfigurationError(
        Message(
          """
          The restore to {path} can't be finished yet: {reason}. The next start or command \
          finishes it.
          """,
          ["path": .text(data), "reason": .text(OperatorText.reason(of: error))]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
  }
}

extension DataFolder {
  /// The folders in which a killed creation or restore left a copy of users' data or a key; none
  /// while a command that may be writing one holds the lock of the server.
  var abandonedDrafts: [String] {
    let drafts = [NewInstance(data: path).draftPath, DatabaseSwap(data: path).draft]
    let found = drafts.filter(FileManager.default.fileExists)
    return found.isEmpty || PartialFile.isBeingWritten(serverLock) ? [] : found
  }

  /// Finishes a restore that was interrupted after its point of no return.
  func finishRestore() throws(ConfigurationError) {
    let swap = DatabaseSwap(data: path)
    guard swap.isPending else { return }
    guard let server = try lockIfFree() else {
      throw ConfigurationError.temporary(
        Message(
          "A backup is being restored to {path}. Try again in a moment.", ["path": .text(path)]))
    }
    try finishRestore(holding: server)
    server.release()
  }

  /// Finishes an interrupted restore for a caller that already holds the server lock.
  ///
  /// What one left that was interrupted before its point of no return is deleted.
  func finishRestore(
    holding _: FolderLock, say: (Message) -> Void = { Terminal.complain($0) }
  ) throws(ConfigurationError) {
    let swap = DatabaseSwap(data: path)
    try? FileManager.default.removeItem(atPath: swap.draft)
    guard try swap.finishRestore() != nil else { return }
    say(Message("Finished an interrupted restore."))
  }
}

/// The files that interrupted backups and exports left, with users' data.
enum InterruptedFiles {
  /// Returns the files in a folder whose names have a prefix and that no process is writing,
  /// sorted.
  static func files(in folder: String, prefix: String = "") -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) && isPartial($0) }.sorted()
      .map { "\(folder)/\($0)" }.filter { !PartialFile.isBeingWritten($0) }
  }

  /// Returns the files in several folders, which may be the same one.
  static func files(in folders: [String]) -> [String] {
    let resolved = folders.map { DataFolder.resolved($0) }
    var (seen, files): (Set<String>, [String]) = ([], [])
    for (folder, path) in zip(folders, resolved) where seen.insert(path).inserted {
      files += self.files(in: folder)
    }
    return files
  }

  static func delete(in folder: String, prefix: String) {
    for file in files(in: folder, prefix: prefix) {
      try? FileManager.default.removeItem(atPath: file)
    }
  }

  /// Whether a name is that of a partial file; earlier versions append a number to it, and give a
  /// name to a backup that's written to standard output.
  private static func isPartial(_ name: String) -> Bool {
    name.hasSuffix(PartialFile.suffix) || name.contains("\(PartialFile.suffix)-")
      || name.hasPrefix(BackupCommand.streamPrefix)
  }
}
