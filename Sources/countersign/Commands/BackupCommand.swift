import Database
import DatabaseSQLite
import Foundation
import Glibc
import Identity

/// Copies the database while the server runs, or checks such a copy.
enum BackupCommand: Command {
  static let name = "backup"
  static let summary =
    "makes a consistent copy of the database, also while the server runs; - is standard output"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option(
      "check", variable: false,
      help:
        "Check integrity, version and key of the copy. If FILE exists, check it and copy nothing."
    ),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand("the file to make")
    let folder = DataFolder(path: try arguments.required("data"))
    let isCheck = arguments.has("check")
    if file == "-" {
      guard !isCheck else { throw UsageError(message: "--check wants a file") }
      return try await stream(folder)
    }
    if isCheck, FileManager.default.fileExists(atPath: file) {
      return try await check(file, folder)
    }
    try folder.mustExist()
    try await copy(folder, to: file)
    Terminal.say(
      """
      Made \(file). It holds no key: keep a copy of \(folder.path)/master.key in another place, \
      for without it no second factor in the backup can be read.
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
        throw ConfigurationError("\(file) is there already; it is not overwritten.")
      }
      throw ConfigurationError("The copy could not be made: \(error.message)")
    }
  }

  private static func check(_ file: String, _ folder: DataFolder) async throws -> Int32 {
    let backup = BackupFile(path: file)
    try backup.mustBeBackup()
    let environment = ProcessInfo.processInfo.environment
    guard let keys = try folder.existingKey(environment: environment) else {
      throw ConfigurationError("There is no master.key in \(folder.path) to check \(file) with.")
    }
    let stored = try await backup.inspect(keys)
    let latest = stored.latest.map { ", as of \($0.rfc3339Milliseconds)" } ?? ""
    Terminal.say(
      "\(file) is intact, and the master key opens it: \(stored.users) users\(latest).")
    return 0
  }

  /// Writes a copy to standard output.
  ///
  /// It's made in the data folder first, since nobody can wait for a slow reader with a snapshot
  /// open: the log would grow meanwhile.
  private static func stream(_ folder: DataFolder) async throws -> Int32 {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError(
        message: "a backup isn't written to a terminal; redirect standard output or name a file")
    }
    try folder.mustExist()
    let draft = "\(folder.path)/backup.draft-\(getpid())"
    try await copy(folder, to: draft)
    let source = FileHandle(forReadingAtPath: draft)
    // Nothing is left behind, however this ends.
    try? FileManager.default.removeItem(atPath: draft)
    guard let source else { throw ConfigurationError("The copy could not be read.") }
    signal(SIGPIPE, SIG_IGN)
    do {
      while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
        try FileHandle.standardOutput.write(contentsOf: part)
      }
    } catch {
      throw ConfigurationError("The copy could not be written: \(folder.reason(error))")
    }
    return 0
  }
}
