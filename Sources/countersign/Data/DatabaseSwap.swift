import DatabaseSQLite
import Foundation

/// Puts a restored database in the place of the present one.
///
/// The restored one is made in a folder of its own. Renaming that folder is the point of no return:
/// before it the present database is untouched, after it whoever opens the data folder next
/// finishes what is left. So a crash leaves the old database or the new one, and never a database
/// beside the log of another.
struct DatabaseSwap: Sendable {
  private static let draftName = "restore.draft"
  private static let readyPrefix = "restored-"
  private static let formerPrefix = "before-restore-"
  /// The files that SQLite keeps for one database, the database itself first.
  static let suffixes = ["", "-wal", "-shm"]

  let data: String
  /// Moves a file; a test fails in its place.
  var move: @Sendable (_ from: String, _ to: String) throws -> Void = { from, to in
    try DurableFiles.move(from, to: to)
  }

  init(data: String) { self.data = data }

  /// Where the restored database is made.
  var draft: String { "\(data)/\(Self.draftName)" }
  /// Its file.
  var draftDatabase: String { "\(draft)/countersign.sqlite" }

  /// Makes an empty folder for the restored database, without what an interrupted restore left.
  func begin() throws {
    try discard()
    try DurableFiles.createFolder(draft)
  }

  /// Removes what a restore has made, as long as it isn't in place.
  func discard() throws {
    guard FileManager.default.fileExists(atPath: draft) else { return }
    try FileManager.default.removeItem(atPath: draft)
  }

  /// Decides that the restored database takes over.
  ///
  /// It's closed, and its log is empty.
  ///
  /// - Parameter stamp: The time, as part of the names of the folders.
  /// - Throws: When a file can't be moved or synced.
  func commit(stamp: String) throws {
    try DurableFiles.sync(draftDatabase)
    try DurableFiles.sync(draft)
    try move(draft, "\(data)/\(Self.readyPrefix)\(stamp)")
    try DurableFiles.sync(data)
  }

  /// Whether a restore is decided and not finished.
  var isPending: Bool { ready != nil }

  private var ready: String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
    return names.filter { $0.hasPrefix(Self.readyPrefix) }.min()
  }

  /// Moves the present database aside and the restored one in its place, as far as that isn't done.
  ///
  /// - Returns: Where the former database is; nil when nothing was pending.
  @discardableResult
  func finish() throws -> String? {
    guard let ready else { return nil }
    let files = FileManager.default
    let former = "\(data)/\(Self.formerPrefix)\(ready.dropFirst(Self.readyPrefix.count))"
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
}

extension DataFolder {
  /// Finishes a restore that was interrupted after its point of no return.
  func finishRestore() throws(ConfigurationError) {
    let swap = DatabaseSwap(data: path)
    guard swap.isPending else { return }
    guard let server = try lockIfFree() else {
      throw ConfigurationError("A backup is being restored to \(path). Try again in a moment.")
    }
    try finishRestore(holding: server)
    try? server.close()
  }

  /// The same for whoever has the lock of the server.
  func finishRestore(holding _: FileHandle) throws(ConfigurationError) {
    do {
      guard try DatabaseSwap(data: path).finish() != nil else { return }
    } catch {
      throw ConfigurationError("The restore of \(path) can't be finished: \(error)")
    }
    Terminal.complain("Finished a restore that was interrupted.")
  }
}
