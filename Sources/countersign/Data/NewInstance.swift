import Database
import DatabaseSQLite
import Foundation
import Identity
import Localization

/// The creation of an instance whose database is a file.
///
/// The key and the database are created in a separate folder. Renaming that folder is the point of
/// no return: what was interrupted before it is discarded, and a new attempt starts from the
/// beginning; what was interrupted after it is finished by the next command or start. The data
/// folder itself therefore never has a part of an instance, and a key without a database in it is
/// one whose database was lost. The caller holds the server's lock.
struct NewInstance: Sendable {
  let data: String
  /// Moves a file; replaced in tests to simulate a crash.
  var move: @Sendable (_ from: String, _ to: String) throws -> Void = { from, to in
    try DurableFiles.move(from, to: to)
  }

  init(data: String) { self.data = data }

  /// The folder in which the key and the database are created.
  var draftPath: String { "\(data)/init.draft" }

  private var folder: DataFolder { DataFolder(path: data) }
  private var draft: DataFolder { DataFolder(path: draftPath) }
  private var ready: DataFolder { DataFolder(path: "\(data)/init.ready") }

  /// Whether a creation has passed the point of no return and isn't finished.
  var isPending: Bool { FileManager.default.fileExists(atPath: ready.path) }

  /// Creates an instance in a vacant data folder, replacing what an interrupted attempt left.
  ///
  /// - Throws: After which the data folder is vacant, or the next command finishes the creation.
  func create(assets: Assets, profile: Profile, environment: [String: String]) async throws {
    try writing {
      try discard()
      try DurableFiles.createFolder(draft.path)
    }
    do {
      let instance: Instance
      do {
        instance = try await Instance.open(
          draft, assets: assets, profile: profile, creates: true, environment: environment)
      } catch {
        throw ConfigurationError.starting(error)
      }
      do { try await instance.database.checkpoint() } catch {
        await instance.database.close()
        throw error
      }
      await instance.database.close()
      try writing { try commit() }
    } catch {
      try? discard()
      throw error is DatabaseError ? ConfigurationError(writing: data, error) : error
    }
    try writing { try finish() }
  }

  /// Removes what was created before the point of no return.
  func discard() throws { try remove(draft) }

  /// Renames the folder of the closed database, which is the point of no return.
  private func commit() throws {
    try DurableFiles.sync(draft.database)
    try DurableFiles.sync(draft.path)
    try move(draft.path, ready.path)
  }

  /// Moves the key and the database into place, continuing where an interrupted call stopped.
  ///
  /// - Returns: Whether the data folder now has the new instance; false when no creation was
  ///   pending, or when the folder has got another key or database since, which are never replaced.
  @discardableResult
  func finish() throws -> Bool {
    guard isPending else { return false }
    // The renamed draft folder, which must be durable before its files are moved.
    try DurableFiles.sync(data)
    let files = FileManager.default
    let hasKey = files.fileExists(atPath: ready.key)
    let hasDatabase = files.fileExists(atPath: ready.database)
    guard !(hasKey && files.fileExists(atPath: folder.key)),
      !(hasDatabase && folder.hasDatabaseFiles)
    else {
      try remove(ready)
      return false
    }
    for (isLeft, from, to) in [
      // The key first: a database without a key is rejected.
      (hasKey, ready.key, folder.key), (hasDatabase, ready.database, folder.database),
    ] where isLeft {
      try move(from, to)
      try DurableFiles.sync(data)
    }
    try remove(ready)
    return true
  }

  private func remove(_ folder: DataFolder) throws {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    try FileManager.default.removeItem(atPath: folder.path)
  }

  @discardableResult
  private func writing<T>(_ body: () throws -> T) throws(ConfigurationError) -> T {
    do { return try body() } catch { throw ConfigurationError(writing: data, error) }
  }

  /// Does the same as ``finish()``, and explains its failure: the next command continues.
  func finishCreation() throws(ConfigurationError) -> Bool { try writing { try finish() } }
}

extension DataFolder {
  /// Whether the folder has the file of a database, or one of those that SQLite keeps next to it.
  var hasDatabaseFiles: Bool {
    databaseFiles.contains { FileManager.default.fileExists(atPath: $0) }
  }

  /// Finishes a creation that was interrupted after its point of no return.
  func finishCreation() throws(ConfigurationError) {
    guard NewInstance(data: path).isPending else { return }
    let server = try lock()
    try finishCreation(holding: server)
    server.release()
  }

  /// Does the same for a caller that already holds the server lock, and discards a creation that
  /// was interrupted before its point of no return.
  func finishCreation(
    holding _: FolderLock, say: (Message) -> Void = { Terminal.complain($0) }
  ) throws(ConfigurationError) {
    let new = NewInstance(data: path)
    try? new.discard()
    guard try new.finishCreation() else { return }
    say(Message("Finished the creation of the instance, which was interrupted."))
  }
}
