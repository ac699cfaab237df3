import Crypto
import Database
import DatabaseSQLite
import Foundation
import Glibc
import Host
import Identity
import Localization

enum BackupCommand: Command {
  static let name = "backup"
  static let summary = Message(
    """
    backs up the database to FILE, a new file in the folder FILE, or standard output (-); the \
    server can keep running
    """)
  static let operands = "FILE"
  static let options = [
    ConfigurationFile.option, Instance.dataOption, DatabaseLocation.url,
    DatabaseLocation.passwordFile,
    Option(
      "check", variable: false,
      help: Message(
        "Verify the backup's integrity, version, and key. If FILE exists, only verify it.")
    ),
    Option(
      "keep", "N", variable: false,
      help: Message(
        "After a backup to a folder, keep this many of its newest backups and delete the others.")),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand(Message("the backup file to create"))
    try DatabaseLocation.mustBeFile(arguments, command: name)
    // Other settings have nothing to do with the backup.
    if !arguments.has("data"), let error = arguments.fileError { throw error }
    let folder = DataFolder(path: try arguments.required("data"))
    let isCheck = arguments.has("check")
    if file == "-" {
      guard !isCheck else { throw UsageError(Message("--check requires a file")) }
      guard !arguments.has("keep") else { throw keepRequiresFolder(file) }
      return try await stream(folder)
    }
    let backups = BackupFolder(path: file)
    if backups.exists {
      return try await add(to: backups, of: folder, keep: try kept(arguments), isCheck: isCheck)
    }
    guard !arguments.has("keep") else {
      throw keepRequiresFolder(file)
    }
    if isCheck, FileManager.default.fileExists(atPath: file) {
      return try await check(file, folder)
    }
    try await create(file, of: folder, isVerified: isCheck)
    return 0
  }

  private static func keepRequiresFolder(_ file: String) -> UsageError {
    UsageError(
      Message("--keep requires an existing folder, and {file} isn't one", ["file": .text(file)]))
  }

  private static func create(
    _ file: String, of folder: DataFolder, isVerified: Bool
  ) async throws {
    try folder.mustExist()
    // A backup of an empty database would replace good ones.
    try folder.mustHoldInstance()
    let place = (file as NSString).deletingLastPathComponent
    try BackupFolder(path: place.isEmpty ? "." : place).mustHaveNoKey()
    let stored: StoredInstance?
    if isVerified {
      stored = try await copy(folder, to: file) { draft in
        do {
          let keys = try keys(of: folder, toVerify: file)
          return try await BackupFile(path: draft).inspect(keys, as: file)
        } catch {
          // Neither the newest backup nor one of those to keep.
          BackupFolder.keepUnverified(draft, of: file)
          throw error
        }
      }
    } else {
      stored = try await copy(folder, to: file) { _ in nil }
    }
    Terminal.say(
      Message(
        """
        Created {file}. It doesn't contain the master key: keep a copy of {folder}/master.key \
        somewhere else. Without it, second factors in the backup can't be read.
        """,
        ["file": .text(file), "folder": .text(folder.path)]))
    if let stored { say(stored, file) }
  }

  /// Adds a backup to a folder, and deletes the oldest ones after it was created and verified.
  private static func add(
    to backups: BackupFolder, of folder: DataFolder, keep count: Int?, isCheck: Bool
  ) async throws -> Int32 {
    // First, since they take as much space as the new backup.
    backups.deleteInterrupted()
    let file = try await backups.newFile()
    // Only a verified backup may replace another.
    try await create(file, of: folder, isVerified: isCheck || count != nil)
    guard let count else { return 0 }
    for file in try backups.deleteAllBut(newest: count) {
      Terminal.say(Message("Deleted {file}.", ["file": .text(file)]))
    }
    return 0
  }

  private static func kept(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.value("keep") else { return nil }
    guard let count = Int(text), count > 0 else {
      throw UsageError(
        Message("--keep must be a number of 1 or more, not {text}", ["text": .text(text)]))
    }
    return count
  }

  private static func copy<T: Sendable>(
    _ folder: DataFolder, to file: String, isKept: Bool = true,
    verifying verify: @Sendable (String) async throws -> T
  ) async throws -> T {
    let lock = try folder.lockKeys()
    defer { lock.release() }
    let database = try folder.openFile()
    do {
      return try await database.closing {
        try await checkSpace(for: database, file)
        return try await database.backup(to: file, isKept: isKept, verifying: verify)
      }
    } catch {
      guard let error = error as? DatabaseError else { throw error }
      if case .exists = error.code {
        throw ConfigurationError(
          Message("{file} already exists. Choose another name or delete it.", ["file": .text(file)])
        )
      }
      throw ConfigurationError(
        Message("The backup couldn't be created: {reason}", ["reason": .text(error.message)]),
        isTemporary: error.isTemporary)
    }
  }

  /// Checks that a copy fits where the file is, since it could take the space that the server needs.
  private static func checkSpace(for database: SQLiteDatabase, _ file: String) async throws {
    let bytes = try await MigrationPlan.databaseBytes(of: database)
    guard let shortage = DiskShortage(of: bytes, in: FolderOwner.folder(of: file)) else { return }
    throw ConfigurationError.temporary(
      Message(
        """
        The backup to {file} needs {needed} of free space, including what a server on this disk \
        needs, but {free} is free. Nothing was written. Free some space, or create the backup on \
        another disk.
        """,
        [
          "file": .text(file), "needed": .text(Size.text(shortage.needed)),
          "free": .text(Size.free(shortage.free)),
        ]))
  }

  private static func check(_ file: String, _ folder: DataFolder) async throws -> Int32 {
    let backup = BackupFile(path: file)
    try backup.mustBeBackup()
    say(try await backup.inspect(try keys(of: folder, toVerify: file)), file)
    return 0
  }

  private static func keys(
    of folder: DataFolder, toVerify file: String
  ) throws(ConfigurationError) -> KeyRing {
    let environment = ProcessInfo.processInfo.environment
    guard let keys = try folder.existingKey(environment: environment) else {
      throw ConfigurationError(
        Message(
          "There's no master.key in {folder}, so {file} can't be verified.",
          ["folder": .text(folder.path), "file": .text(file)]))
    }
    return keys
  }

  private static func say(_ stored: StoredInstance, _ file: String) {
    if let latest = stored.latest {
      Terminal.say(
        Message(
          one: "{file} is intact and matches the master key: {count} user, as of {latest}.",
          other: "{file} is intact and matches the master key: {count} users, as of {latest}.",
          [
            "file": .text(file), "count": .number(stored.users),
            "latest": .text(latest.rfc3339Milliseconds),
          ]))
    } else {
      Terminal.say(
        Message(
          one: "{file} is intact and matches the master key: {count} user.",
          other: "{file} is intact and matches the master key: {count} users.",
          ["file": .text(file), "count": .number(stored.users)]))
    }
  }

  static let streamPrefix = "backup.draft-"

  /// Writes a backup to standard output.
  ///
  /// It's written to the data folder first: a slow reader would keep a snapshot open, and the
  /// write-ahead log would grow until it finished.
  private static func stream(_ folder: DataFolder) async throws -> Int32 {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError(
        Message("can't write a backup to a terminal; redirect standard output or name a file"))
    }
    try folder.mustExist()
    InterruptedFiles.delete(in: folder.path, prefix: streamPrefix)
    let draft = "\(folder.path)/\(streamPrefix)\(getpid())"
    // Removed while open, so that nothing is left behind on any exit.
    let source = try await copy(folder, to: draft, isKept: false) {
      FileHandle(forReadingAtPath: $0)
    }
    guard let source else { throw ConfigurationError(Message("The backup couldn't be read.")) }
    signal(SIGPIPE, SIG_IGN)
    do {
      while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
        try FileHandle.standardOutput.write(contentsOf: part)
      }
    } catch {
      throw ConfigurationError(
        Message(
          "The backup couldn't be written: {reason}",
          ["reason": .text(OperatorText.reason(of: error))]))
    }
    return 0
  }
}
