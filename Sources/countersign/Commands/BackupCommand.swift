import Crypto
import Database
import DatabaseSQLite
import Foundation
import Glibc
import Host
import Identity
import Localization

/// Backs up the database, even while the server runs, or verifies a backup.
enum BackupCommand: Command {
  static let name = "backup"
  static let summary = Message("cli.summary-backs-up-the-database-to-file")
  static let operands = "FILE"
  static let options = [
    ConfigurationFile.option, Instance.dataOption, DatabaseLocation.url,
    DatabaseLocation.passwordFile,
    Option(
      "check", variable: false,
      help: Message("cli.help-verify-the-backups-integrity-version-and")
    ),
    Option("keep", "N", variable: false, help: Message("cli.help-keep-the-newest-backups")),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand(Message("cli.the-backup-file-to-create"))
    try DatabaseLocation.mustBeFile(arguments, command: name)
    // Other settings have nothing to do with the backup.
    if !arguments.has("data"), let error = arguments.fileError { throw error }
    let folder = DataFolder(path: try arguments.required("data"))
    let isCheck = arguments.has("check")
    if file == "-" {
      guard !isCheck else { throw UsageError(Message("cli.check-requires-a-file")) }
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
    UsageError(Message("cli.keep-requires-a-folder", ["file": .text(file)]))
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
        "cli.created-it-doesnt-contain-the-master",
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
      Terminal.say(Message("cli.deleted-the-backup", ["file": .text(file)]))
    }
    return 0
  }

  /// Returns the number of backups to keep; nil for all.
  private static func kept(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.value("keep") else { return nil }
    guard let count = Int(text), count > 0 else {
      throw UsageError(Message("cli.keep-must-be-a-number", ["text": .text(text)]))
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
      try await checkSpace(for: database, file)
      let result = try await database.backup(to: file, isKept: isKept, verifying: verify)
      await database.close()
      return result
    } catch {
      await database.close()
      guard let error = error as? DatabaseError else { throw error }
      if case .exists = error.code {
        throw ConfigurationError(
          Message("cli.already-exists-choose-another-name-or", ["file": .text(file)]))
      }
      throw ConfigurationError(
        Message("cli.the-backup-couldnt-be-created", ["reason": .text(error.message)]),
        isTemporary: error.isTemporary)
    }
  }

  /// Checks that a copy fits where the file is, since it could take the space that the server needs.
  private static func checkSpace(for database: SQLiteDatabase, _ file: String) async throws {
    let bytes = try await MigrationPlan.databaseBytes(of: database)
    guard let shortage = DiskShortage(of: bytes, in: FolderOwner.folder(of: file)) else { return }
    throw ConfigurationError.temporary(
      Message(
        "cli.not-enough-space-for-the-backup",
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
          "cli.theres-no-master-key-in-so", ["folder": .text(folder.path), "file": .text(file)]))
    }
    return keys
  }

  private static func say(_ stored: StoredInstance, _ file: String) {
    if let latest = stored.latest {
      Terminal.say(
        Message(
          "cli.backup-is-intact-as-of",
          [
            "file": .text(file), "count": .number(stored.users),
            "latest": .text(latest.rfc3339Milliseconds),
          ]))
    } else {
      Terminal.say(
        Message("cli.backup-is-intact", ["file": .text(file), "count": .number(stored.users)]))
    }
  }

  /// The beginning of the name of a backup that's written to standard output.
  static let streamPrefix = "backup.draft-"

  /// Writes a backup to standard output.
  ///
  /// It's written to the data folder first: a slow reader would keep a snapshot open, and the
  /// write-ahead log would grow until it finished.
  private static func stream(_ folder: DataFolder) async throws -> Int32 {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError(Message("cli.cant-write-a-backup-to-a"))
    }
    try folder.mustExist()
    InterruptedFiles.delete(in: folder.path, prefix: streamPrefix)
    let draft = "\(folder.path)/\(streamPrefix)\(getpid())"
    // Removed while open, so that nothing is left behind on any exit.
    let source = try await copy(folder, to: draft, isKept: false) {
      FileHandle(forReadingAtPath: $0)
    }
    guard let source else { throw ConfigurationError(Message("cli.the-backup-couldnt-be-read")) }
    signal(SIGPIPE, SIG_IGN)
    do {
      while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
        try FileHandle.standardOutput.write(contentsOf: part)
      }
    } catch {
      throw ConfigurationError(
        Message(
          "cli.the-backup-couldnt-be-written", ["reason": .text(OperatorText.reason(of: error))]))
    }
    return 0
  }
}
