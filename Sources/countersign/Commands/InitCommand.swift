import DatabaseSQLite
import Foundation
import Identity
import Localization

/// Creates an instance: the data folder, its master key, and its database.
enum InitCommand: Command {
  static let name = "init"
  static let summary = Message("cli.summary-creates-a-new-instance-in-an")
  static let options = [
    Option("data", "DIR", help: Message("cli.help-new-data-folder")), DatabaseLocation.url,
    DatabaseLocation.passwordFile,
    Option("profile", "PROFILE", help: Message("cli.help-standalone-or-emulator-default")),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = try DataFolder(arguments)
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    guard let profile = Profile(rawValue: word) else {
      throw UsageError(Message("cli.profile-unknown", ["word": .text(word)]))
    }
    let isNew = !FileManager.default.fileExists(atPath: folder.path)
    try folder.prepare()
    let lock = try folder.lock()
    try folder.mustHoldNoInstance()
    do {
      let instance = try await Instance.open(
        folder, assets: .ofCommands, profile: profile, creates: true,
        environment: ProcessInfo.processInfo.environment)
      await instance.database.close()
    } catch {
      // The server and the next init would reject half an instance.
      folder.removeNewInstance(withFolder: isNew)
      if let error = error as? StartError { throw ConfigurationError(error.message) }
      throw error
    }
    try? lock.close()
    Terminal.say(Message("cli.created-an-instance-in-keep-a", ["folder": .text(folder.path)]))
    return 0
  }
}

extension DataFolder {
  /// Checks that the folder contains neither a database nor a key.
  func mustHoldNoInstance() throws(ConfigurationError) {
    let files = FileManager.default
    guard !isOnServer || !files.fileExists(atPath: key) else {
      throw ConfigurationError(
        Message("cli.already-contains-an-instance-to-serve", ["path": .text(path)]))
    }
    let held = DatabaseSwap.suffixes.map { database + $0 }.filter(files.fileExists)
    let hasDatabase = !held.isEmpty || DatabaseSwap(data: path).isPending
    guard !hasDatabase || files.fileExists(atPath: key) else {
      throw ConfigurationError(
        Message("cli.already-contains-a-database-but-no", ["path": .text(path)]))
    }
    guard !hasDatabase else {
      throw ConfigurationError(
        Message("cli.already-contains-an-instance-to-serve", ["path": .text(path)]))
    }
    guard !files.fileExists(atPath: key) else {
      throw ConfigurationError(Self.emptyBesideKey(path, Message("cli.no-database")))
    }
  }

  /// Removes the files of an instance that couldn't be created.
  func removeNewInstance(withFolder: Bool) {
    let files = FileManager.default
    for file in (isOnServer ? [] : DatabaseSwap.suffixes.map { database + $0 }) + [key] {
      try? files.removeItem(atPath: file)
    }
    if withFolder { try? files.removeItem(atPath: path) }
  }
}
