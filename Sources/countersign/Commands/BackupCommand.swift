import Database
import DatabaseSQLite
import Foundation
import Glibc
import Identity
import Localization

/// Backs up the database, even while the server runs, or verifies a backup.
enum BackupCommand: Command {
  static let name = "backup"
  static let summary = Message("cli.summary-backs-up-the-database-to-file")
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option(
      "check", variable: false,
      help: Message("cli.help-verify-the-backups-integrity-version-and")
    ),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand(Message("cli.the-backup-file-to-create"))
    let folder = DataFolder(path: try arguments.required("data"))
    let isCheck = arguments.has("check")
    if file == "-" {
      guard !isCheck else { throw UsageError(Message("cli.check-requires-a-file")) }
      return try await stream(folder)
    }
    if isCheck, FileManager.default.fileExists(atPath: file) {
      return try await check(file, folder)
    }
    try folder.mustExist()
    try await copy(folder, to: file)
    Terminal.say(
      Message(
        "cli.created-it-doesnt-contain-the-master",
        ["file": .text(file), "folder": .text(folder.path)]))
    return isCheck ? try await check(file, folder) : 0
  }

  private static func copy(_ folder: DataFolder, to file: String) async throws {
    let lock = try folder.lockKeys()
    defer { try? lock.close() }
    let database = try folder.open()
    do {
      try await database.backup(to: file)
      await database.close()
    } catch {
      await database.close()
      guard let error = error as? DatabaseError else { throw error }
      if case .exists = error.code {
        throw ConfigurationError(
          Message("cli.already-exists-choose-another-name-or", ["file": .text(file)]))
      }
      throw ConfigurationError(
        Message("cli.the-backup-couldnt-be-created", ["reason": .text(error.message)]))
    }
  }

  private static func check(_ file: String, _ folder: DataFolder) async throws -> Int32 {
    let backup = BackupFile(path: file)
    try backup.mustBeBackup()
    let environment = ProcessInfo.processInfo.environment
    guard let keys = try folder.existingKey(environment: environment) else {
      throw ConfigurationError(
        Message(
          "cli.theres-no-master-key-in-so", ["folder": .text(folder.path), "file": .text(file)]))
    }
    let stored = try await backup.inspect(keys)
    if let latest = stored.latest {
      Terminal.say(
        Message(
          "cli.backup-is-intact-as-of",
          [
            "file": .text(file), "users": .text("\(stored.users)"),
            "latest": .text(latest.rfc3339Milliseconds),
          ]))
    } else {
      Terminal.say(
        Message("cli.backup-is-intact", ["file": .text(file), "users": .text("\(stored.users)")]))
    }
    return 0
  }

  /// Writes a backup to standard output.
  ///
  /// It's written to the data folder first: a slow reader would keep a snapshot open, and the
  /// write-ahead log would grow until it finished.
  private static func stream(_ folder: DataFolder) async throws -> Int32 {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError(Message("cli.cant-write-a-backup-to-a"))
    }
    try folder.mustExist()
    let draft = "\(folder.path)/backup.draft-\(getpid())"
    try await copy(folder, to: draft)
    let source = FileHandle(forReadingAtPath: draft)
    // Unlinked while open, so that nothing is left behind on any exit.
    try? FileManager.default.removeItem(atPath: draft)
    guard let source else { throw ConfigurationError(Message("cli.the-backup-couldnt-be-read")) }
    signal(SIGPIPE, SIG_IGN)
    do {
      while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
        try FileHandle.standardOutput.write(contentsOf: part)
      }
    } catch {
      throw ConfigurationError(
        Message("cli.the-backup-couldnt-be-written", ["reason": .text(folder.reason(error))]))
    }
    return 0
  }
}
