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

  var database: String { "\(path)/countersign.sqlite" }
  var key: String { "\(path)/master.key" }

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
  ///
  /// A restore that was interrupted after its point of no return is finished first.
  func mustExist() throws(ConfigurationError) {
    try finishRestore()
    guard FileManager.default.fileExists(atPath: database) else {
      throw ConfigurationError(
        "There is no Countersign data in \(path). Name the folder that the server uses with --data."
      )
    }
  }

  /// Says that the folder must hold an instance, so that a server never makes a new one where the
  /// real one isn't mounted.
  func mustHoldInstance() throws(ConfigurationError) {
    try mustExistAsFolder()
    let files = FileManager.default
    let size = (try? files.attributesOfItem(atPath: database)[.size]) as? NSNumber
    guard let size, size.intValue > 0 else {
      let what = size == nil ? "no database" : "an empty database"
      guard files.fileExists(atPath: key) else {
        throw ConfigurationError(
          "There is \(what) in the data folder \(path), and no key. \(Self.advice(path))")
      }
      throw ConfigurationError(Self.emptyBesideKey(path, what))
    }
  }

  /// Says that the folder itself must be there.
  func mustExistAsFolder() throws(ConfigurationError) {
    guard FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError("The data folder \(path) doesn't exist. \(Self.advice(path))")
    }
  }

  /// What to do where there is a key and no database for it.
  static func emptyBesideKey(_ path: String, _ what: String) -> String {
    """
    There is \(what) beside master.key in \(path), so the database of that key is missing. Put it \
    back, or restore a backup: countersign restore FILE --data \(path). For a new instance, name \
    another folder and run countersign init.
    """
  }

  private static func advice(_ path: String) -> String {
    """
    If it's on a volume, check that the volume is mounted. To create a new instance there: \
    countersign init --data \(path)
    """
  }

  /// Whether no instance is in the folder, nor a part of one, or the folder isn't there.
  var isVacant: Bool {
    let parts = DatabaseSwap.suffixes.map { database + $0 } + [key]
    return !parts.contains(where: FileManager.default.fileExists)
      && !DatabaseSwap(data: path).isPending
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
      throw ConfigurationError(
        "Another countersign command changes the keys or the database of \(path). Try again in a "
          + "moment.")
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

  /// The master key that there is, from the environment or the file; nil for none.
  func existingKey(environment: [String: String]) throws(ConfigurationError) -> KeyRing? {
    let variable = Self.variable
    if let text = environment[variable] {
      do { return try KeyRing(text: text) } catch {
        throw ConfigurationError("\(variable) is not a master key: \(error)")
      }
    }
    return try keptKeys()
  }

  /// Reads the master key, from the environment when it is there; makes the file when there is
  /// neither key nor database.
  func masterKey(environment: [String: String]) throws(ConfigurationError) -> KeyRing {
    let variable = Self.variable
    if let ring = try existingKey(environment: environment) { return ring }
    let files = FileManager.default
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

  func reason(_ error: any Error) -> String { error.localizedDescription }
}
