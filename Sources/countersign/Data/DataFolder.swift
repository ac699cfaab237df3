import Crypto
import DatabaseSQLite
import Foundation
import Host
import Localization

/// The folder with an instance's data: `countersign.sqlite`, unless the database is on a server,
/// and `master.key`.
struct DataFolder: Sendable {
  let path: String
  var location = DatabaseLocation.file
  /// Whether a command needs the database on a server for itself.
  var isAlone = false

  var database: String { "\(path)/countersign.sqlite" }
  /// The files that SQLite keeps for the database, itself first; the others of a database that a link
  /// leads to are next to the database.
  var databaseFiles: [String] {
    [database] + DatabaseSwap.suffixes.dropFirst().map { Self.resolved(database) + $0 }
  }
  var key: String { "\(path)/master.key" }
  /// The file that a server, or a command that needs all of the folder, locks.
  var serverLock: String { "\(path)/\(Self.serverLockName)" }

  /// The file that everything that uses the master key locks.
  var keysLock: String { "\(path)/\(Self.keysLockName)" }

  /// The file with the position of the audit log on a server's standard output.
  var auditFilePosition: String { "\(path)/audit-file.position" }

  /// Returns whether a name in the folder is that of something that this program creates there.
  static func isPart(_ name: String) -> Bool {
    let names = ["countersign.sqlite", "master.key", "init.", "restore", "before-", "audit-file."]
    return [serverLockName, keysLockName, auditFileLockName].contains(name)
      || names.contains(where: name.hasPrefix)
  }

  static let serverLockName = "server.lock"
  static let keysLockName = "keys.lock"
  static let auditFileLockName = "audit-file.lock"

  /// Creates the folder with mode 700 if it's missing, and checks that it's writable.
  func prepare() throws(ConfigurationError) {
    let files = FileManager.default
    if files.fileExists(atPath: path) { try mustBeFolder() } else { try mustBeNoLink() }
    do {
      try files.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ConfigurationError(
        Message(
          "The data folder {path} can't be created: {reason}",
          ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
    let probe = "\(path)/.writable-\(getpid())"
    do { try Data().write(to: URL(filePath: probe)) } catch {
      throw notWritable(error)
    }
    try? files.removeItem(atPath: probe)
  }

  /// Checks that files can be created in the folder, without creating one.
  func mustBeWritable() throws(ConfigurationError) {
    if let error = WritableFile.obstacle(path) { throw notWritable(error) }
  }

  private func notWritable(_ error: any Error) -> ConfigurationError {
    // The system makes a disk with errors read-only, until someone repairs it.
    let isReadOnly = ConfigurationError.systemError(behind: error)?.number == EROFS
    return ConfigurationError(
      Message(
        """
        The data folder {path} isn't writable: {reason}. Countersign stores its database and key \
        there.
        """,
        ["path": .text(path), "reason": .text(OperatorText.reason(of: error))]),
      isTemporary: isReadOnly || ConfigurationError.isTemporary(error))
  }

  /// Checks that the path isn't a link to something that doesn't exist, where nothing can be
  /// created.
  private func mustBeNoLink() throws(ConfigurationError) {
    let files = FileManager.default
    guard let target = try? files.destinationOfSymbolicLink(atPath: path) else { return }
    throw ConfigurationError(
      Message(
        """
        The data folder {path} is a link to {target}, which doesn't exist. If that's on a volume, \
        check that it's mounted. Otherwise, create that folder, or remove the link.
        """,
        ["path": .text(path), "target": .text(target)]))
  }

  /// Checks that the folder is empty, so that no demo is created next to real data.
  func mustBeEmpty() throws(ConfigurationError) {
    let held = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard held.isEmpty else {
      throw ConfigurationError(
        Message(
          """
          A demo requires an empty data folder, and {path} isn't empty. Choose another one with \
          --data, or leave out --demo to serve the existing data.
          """, ["path": .text(path)]))
    }
  }

  /// Moves a closed database and its key to another folder, and removes this one.
  func move(to other: DataFolder) throws(ConfigurationError) {
    do {
      // The key first: a database without a key is rejected; a key without a database isn't.
      for (from, to) in [(key, other.key), (database, other.database)] {
        try FileManager.default.moveItem(atPath: from, toPath: to)
      }
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw ConfigurationError(
        Message(
          "{path} can't be moved to {other}: {reason}",
          [
            "path": .text(path), "other": .text(other.path),
            "reason": .text(OperatorText.reason(of: error)),
          ]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
  }

  /// Checks that the database exists, for commands that don't create one.
  ///
  /// A creation or a restore that was interrupted after its point of no return is finished first.
  func mustExist() throws(ConfigurationError) {
    guard !isOnServer else { return try mustHoldInstance() }
    if FileManager.default.fileExists(atPath: path) { try mustBeReadable() }
    try finishCreation()
    try finishRestore()
    guard FileManager.default.fileExists(atPath: database) else {
      guard !lacksOpenDatabase else { throw openDatabaseMissing }
      throw ConfigurationError(
        Message(
          "There's no Countersign data in {path}. Set --data to the server's data folder.",
          ["path": .text(path)]))
    }
  }

  /// Checks that the folder contains an instance, for a caller that doesn't hold its lock: a server
  /// may have a database open that was deleted.
  func mustHoldOpenInstance() throws(ConfigurationError) {
    guard !lacksOpenDatabase else { throw openDatabaseMissing }
    try mustHoldInstance()
  }

  /// Whether the file of the database is missing, although another process has the folder locked.
  var lacksOpenDatabase: Bool {
    !isOnServer && !FileManager.default.fileExists(atPath: database)
      && PartialFile.isBeingWritten(serverLock)
  }

  var openDatabaseMissing: ConfigurationError {
    .temporary(
      Message(
        """
        {path} has no countersign.sqlite, but a server or command is using the folder. Don't stop a \
        server: it still has the database open, and stopping it would lose everything stored since \
        the newest backup. See "The database file is missing" in \
        /usr/share/doc/countersign/docs/incidents.md.
        """, ["path": .text(path)]))
  }

  /// Checks that the folder contains an instance, so that a server never creates a new one where a
  /// volume isn't mounted.
  func mustHoldInstance() throws(ConfigurationError) {
    try mustExistAsFolder()
    guard !isOnServer else { return try mustHoldKey() }
    let files = FileManager.default
    let size = (try? files.attributesOfItem(atPath: database)[.size]) as? NSNumber
    guard let size, size.intValue > 0 else {
      guard files.fileExists(atPath: key) else {
        throw ConfigurationError(
          Message(
            "The data folder {path} has no key, and its database is missing or empty. {advice}",
            ["path": .text(path), "advice": .message(Self.advice(path))]))
      }
      throw ConfigurationError(Self.emptyBesideKey(path))
    }
  }

  func mustExistAsFolder() throws(ConfigurationError) {
    guard FileManager.default.fileExists(atPath: path) else {
      try mustBeNoLink()
      throw ConfigurationError(
        Message(
          "The data folder {path} doesn't exist. {advice}",
          ["path": .text(path), "advice": .message(Self.advice(path))]))
    }
    try mustBeReadable()
  }

  /// Checks that it's a folder that this user can read: what can't be read looks as if it were
  /// missing.
  private func mustBeReadable() throws(ConfigurationError) {
    let files = FileManager.default
    try mustBeFolder()
    guard files.isReadableFile(atPath: path), files.isExecutableFile(atPath: path) else {
      let held = try? files.attributesOfItem(atPath: Self.resolved(path))
      let owner = held?[.ownerAccountName] as? String ?? "?"
      throw ConfigurationError(
        Message(
          "This user can't read the data folder {path}. Run the command as {user}.",
          ["path": .text(path), "user": .text(owner)]))
    }
  }

  private func mustBeFolder() throws(ConfigurationError) {
    guard Self.isFolder(path) else {
      throw ConfigurationError(Message("{path} isn't a folder.", ["path": .text(path)]))
    }
  }

  static func resolved(_ path: String) -> String { ResolvedPath.of(path) }

  static func isFolder(_ path: String) -> Bool {
    let held = try? FileManager.default.attributesOfItem(atPath: resolved(path))
    return held?[.type] as? FileAttributeType == .typeDirectory
  }

  static func emptyBesideKey(_ path: String) -> Message {
    Message(
      """
      {path} has a master.key, but its database is missing or empty. Put the database back, or \
      restore a backup: countersign restore FILE --data {path}. To create a new instance, run \
      countersign init with another folder.
      """, ["path": .text(path)])
  }

  private static func advice(_ path: String) -> Message {
    Message(
      """
      If it's on a volume, check that the volume is mounted. To create a new instance there: \
      countersign init --data {path}
      """, ["path": .text(path)])
  }

  /// Whether the folder is missing or contains no part of an instance.
  var isVacant: Bool {
    guard !isOnServer else { return !FileManager.default.fileExists(atPath: key) }
    return !hasDatabaseFiles && !FileManager.default.fileExists(atPath: key)
      && !DatabaseSwap(data: path).isPending && !NewInstance(data: path).isPending
  }

  /// Reads the master key that was passed, or else the file; returns nil when there's none.
  func existingKey(environment: [String: String]) throws(ConfigurationError) -> KeyRing? {
    guard let passed = PassedKey(environment: environment) else { return try keptKeys() }
    return try passed.ring()
  }

  /// Reads the master key that was passed, or else the file; creates the file when there's neither
  /// a key nor a database.
  func masterKey(environment: [String: String]) throws(ConfigurationError) -> KeyRing {
    if let ring = try existingKey(environment: environment) { return ring }
    guard isOnServer || !FileManager.default.fileExists(atPath: database) else {
      throw ConfigurationError(
        Message(
          """
          {key} is missing, and the database was encrypted with it. Put the key back, or set it \
          in {variable}. A new key can't decrypt the existing data.
          """,
          ["key": .text(key), "variable": .text(PassedKey.variable)]))
    }
    let ring = KeyRing(random: .system)
    try store(ring)
    return ring
  }

  /// Where a server on this machine has its master key, for people who look for it from another one.
  func keyPlace(environment: [String: String]) -> String {
    let place = PassedKey(environment: environment)?.source ?? Self.resolved(key)
    return "\(ProcessInfo.processInfo.hostName):\(place)"
  }

  /// Reads the keys from the file; returns nil when it doesn't exist.
  func keptKeys() throws(ConfigurationError) -> KeyRing? {
    let data: [UInt8]
    do { data = try ReadableFile.text(key) } catch {
      if error.isMissing { return nil }
      throw ConfigurationError(reading: key, error)
    }
    try checkPermissions()
    do { return try KeyRing(text: String(decoding: data, as: UTF8.self)) } catch {
      throw ConfigurationError(
        Message(
          "{variable} isn't a master key: {reason}",
          ["variable": .text(key), "reason": .text(error.reason)]))
    }
  }

  /// Replaces the keys in the file, or in the one that a link leads to, atomically.
  func store(_ ring: KeyRing) throws(ConfigurationError) {
    let target = Self.resolved(key)
    let owner = FolderOwner(of: FolderOwner.folder(of: target))
    // The owner of the data folder can make a link to any file, which root could replace.
    guard geteuid() != 0 || owner?.isSameUser(as: FolderOwner(of: path)) == true else {
      throw ConfigurationError(
        Message(
          """
          {key} is a link to {target}, whose folder belongs to another user than the data folder. \
          Run this command as the user that the data folder belongs to.
          """, ["key": .text(key), "target": .text(target)]))
    }
    do { try WritableFile.replace(target, with: ring.text.revealedBytes) } catch {
      throw ConfigurationError(writing: key, error)
    }
  }

  private func checkPermissions() throws(ConfigurationError) {
    let attributes = try? FileManager.default.attributesOfItem(atPath: Self.resolved(key))
    guard let mode = attributes?[.posixPermissions] as? NSNumber else { return }
    guard mode.intValue & 0o077 == 0 else {
      throw ConfigurationError(
        Message(
          "Other users can read {key}. Restrict its permissions: chmod 600 {key}",
          ["key": .text(key)]))
    }
  }

  func openFile() throws(ConfigurationError) -> SQLiteDatabase {
    do { return try SQLiteDatabase(path: database) } catch {
      throw ConfigurationError(opening: database, error)
    }
  }
}
