import Crypto
import Database
import DatabaseSQLite
import Foundation
import Glibc
import Identity

/// The folder with all that an instance keeps: `countersign.sqlite` and `master.key`.
struct DataFolder: Sendable {
  let path: String

  /// The variable that has the master key in the place of the file.
  static let variable = "COUNTERSIGN_MASTER_KEY"

  private var database: String { "\(path)/countersign.sqlite" }
  private var key: String { "\(path)/master.key" }

  /// Makes the folder for its owner alone where it is missing, and checks that one can write in it.
  func prepare() throws(ConfigurationError) {
    let files = FileManager.default
    do {
      try files.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ConfigurationError("The data folder \(path) cannot be made: \(reason(error))")
    }
    let probe = "\(path)/.writable-\(getpid())"
    guard files.createFile(atPath: probe, contents: Data()) else {
      throw ConfigurationError(
        "The data folder \(path) cannot be written. Countersign keeps its database and its key there."
      )
    }
    try? files.removeItem(atPath: probe)
  }

  /// Says that nothing may be in the folder, for what is not made beside real data.
  func mustBeEmpty() throws(ConfigurationError) {
    let held = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard held.isEmpty else {
      throw ConfigurationError(
        "A demo needs an empty data folder, and \(path) is not empty. Name another one with "
          + "--data; to serve what is there, leave --demo out.")
    }
  }

  /// Moves a database that nobody uses, and its key, into another folder, and takes this one away.
  func move(to other: DataFolder) throws(ConfigurationError) {
    do {
      // The key first: a database beside no key is refused, and a key beside no database is not.
      for (from, to) in [(key, other.key), (database, other.database)] {
        try FileManager.default.moveItem(atPath: from, toPath: to)
      }
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw ConfigurationError("\(path) cannot be moved to \(other.path): \(reason(error))")
    }
  }

  /// Says that the folder must be there, for commands that do not make one.
  func mustExist() throws(ConfigurationError) {
    guard FileManager.default.fileExists(atPath: database) else {
      throw ConfigurationError(
        "There is no Countersign data in \(path). Name the folder that the server uses with --data."
      )
    }
  }

  /// Takes the folder for one server; the lock goes with the process.
  func lock() throws(ConfigurationError) -> FileHandle {
    guard let handle = try lockIfFree() else {
      throw ConfigurationError(
        "Another Countersign server uses \(path). Stop it first, or name another --data folder.")
    }
    return handle
  }

  /// The same lock; nil while a server has it.
  func lockIfFree() throws(ConfigurationError) -> FileHandle? {
    try take("server.lock", LOCK_EX)
  }

  /// Says that the master key must not change while a command runs which has read it.
  func lockKeys() throws(ConfigurationError) -> FileHandle {
    guard let handle = try take("keys.lock", LOCK_SH) else {
      throw ConfigurationError("The master key of \(path) is being rotated. Try again in a moment.")
    }
    return handle
  }

  /// Says that nobody else but a server has read the master key.
  func lockKeysForChange() throws(ConfigurationError) -> FileHandle {
    guard let handle = try take("keys.lock", LOCK_EX) else {
      throw ConfigurationError(
        "Another countersign command works on \(path). Wait for it, since it may seal something "
          + "with the key of now.")
    }
    return handle
  }

  private func take(_ name: String, _ kind: Int32) throws(ConfigurationError) -> FileHandle? {
    let lock = "\(path)/\(name)"
    let files = FileManager.default
    if !files.fileExists(atPath: lock) {
      _ = files.createFile(
        atPath: lock, contents: Data(), attributes: [.posixPermissions: 0o600])
    }
    guard let handle = FileHandle(forUpdatingAtPath: lock) else {
      throw ConfigurationError("The lock \(lock) cannot be opened for writing.")
    }
    return flock(handle.fileDescriptor, kind | LOCK_NB) == 0 ? handle : nil
  }

  /// Reads the master key, from the environment when it is there; makes the file when there is
  /// neither key nor database.
  func masterKey(environment: [String: String]) throws(ConfigurationError) -> KeyRing {
    let variable = Self.variable
    if let text = environment[variable] {
      do { return try KeyRing(text: text) } catch {
        throw ConfigurationError("\(variable) is not a master key: \(error)")
      }
    }
    let files = FileManager.default
    if let ring = try keptKeys() { return ring }
    guard !files.fileExists(atPath: key) else {
      throw ConfigurationError("\(key) cannot be read.")
    }
    guard !files.fileExists(atPath: database) else {
      throw ConfigurationError(
        """
        \(key) is missing, and the database beside it was sealed with it. Put the key back, or \
        give it in \(variable). A new key cannot open what is there.
        """)
    }
    let ring = KeyRing(random: .system)
    try store(ring)
    return ring
  }

  /// The keys in the file; nil when there is none that can be read.
  func keptKeys() throws(ConfigurationError) -> KeyRing? {
    guard let data = FileManager.default.contents(atPath: key) else { return nil }
    try checkPermissions()
    do { return try KeyRing(text: String(decoding: data, as: UTF8.self)) } catch {
      throw ConfigurationError("\(key) is not a master key: \(error)")
    }
  }

  /// Puts keys in the place of those in the file, which has one or the other whatever happens.
  func store(_ ring: KeyRing) throws(ConfigurationError) {
    do { try KeyFile.replace(key, with: ring.text) } catch {
      throw ConfigurationError("\(key) cannot be written: \(error)")
    }
  }

  private func checkPermissions() throws(ConfigurationError) {
    let attributes = try? FileManager.default.attributesOfItem(atPath: key)
    guard let mode = attributes?[.posixPermissions] as? NSNumber else { return }
    guard mode.intValue & 0o077 == 0 else {
      throw ConfigurationError(
        "\(key) can be read by others. Take that away: chmod 600 \(key)")
    }
  }

  /// Opens the database.
  func open() throws(ConfigurationError) -> SQLiteDatabase {
    do { return try SQLiteDatabase(path: database) } catch {
      throw ConfigurationError("The database \(database) cannot be opened: \(error.message)")
    }
  }

  private func reason(_ error: any Error) -> String { error.localizedDescription }
}
