import Database
import DatabaseSQLite
import Foundation
import Glibc
import Identity

/// Backs up the database, even while the server runs, or verifies a backup.
enum BackupCommand: Command {
  static let name = "backup"
  static let summary =
    "backs up the database to FILE (- for standard output); the server can keep running"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option(
      "check", variable: false,
      help:
        "Verify the backup's integrity, version, and key. If FILE exists, only verify it."
    ),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand("the backup file to create")
    let folder = DataFolder(path: try arguments.required("data"))
    let isCheck = arguments.has("check")
    if file == "-" {
      guard !isCheck else { throw UsageError(message: "--check requires a file") }
      return try await stream(folder)
    }
    if isCheck, FileManager.default.fileExists(atPath: file) {
      return try await check(file, folder)
    }
    try folder.mustExist()
    try await copy(folder, to: file)
    Terminal.say(
      """
      Created \(file). It doesn't contain the master key: keep a copy of \
      \(folder.path)/master.key somewhere else. Without it, second factors in the backup can't be \
      read.
      """)
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
        throw ConfigurationError("\(file) already exists. Choose another name or delete it.")
      }
      throw ConfigurationError("The backup couldn't be created: \(error.message)")
    }
  }

  private static func check(_ file: String, _ folder: DataFolder) async throws -> Int32 {
    let backup = BackupFile(path: file)
    try backup.mustBeBackup()
    let environment = ProcessInfo.processInfo.environment
    guard let keys = try folder.existingKey(environment: environment) else {
      throw ConfigurationError(
        "There's no master.key in \(folder.path), so \(file) can't be verified.")
    }
    let stored = try await backup.inspect(keys)
    let latest = stored.latest.map { ", as of \($0.rfc3339Milliseconds)" } ?? ""
    Terminal.say(
      "\(file) is intact and matches the master key: \(stored.users) users\(latest).")
    return 0
  }

  /// Writes a backup to standard output.
  ///
  /// It's written to the data folder first: a slow reader would keep a snapshot open, and the
  /// write-ahead log would grow until it finished.
  private static func stream(_ folder: DataFolder) async throws -> Int32 {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError(
        message: "can't write a backup to a terminal; redirect standard output or name a file")
    }
    try folder.mustExist()
    let draft = "\(folder.path)/backup.draft-\(getpid())"
    try await copy(folder, to: draft)
    let source = FileHandle(forReadingAtPath: draft)
    // Unlinked while open, so that nothing is left behind on any exit.
    try? FileManager.default.removeItem(atPath: draft)
    guard let source else { throw ConfigurationError("The backup couldn't be read.") }
    signal(SIGPIPE, SIG_IGN)
    do {
      while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
        try FileHandle.standardOutput.write(contentsOf: part)
      }
    } catch {
      throw ConfigurationError("The backup couldn't be written: \(folder.reason(error))")
    }
    return 0
  }
}
