import DatabaseSQLite
import Foundation
import Identity

/// Creates an instance: the data folder, its key and its database.
enum InitCommand: Command {
  static let name = "init"
  static let summary = "creates a new instance in an empty or missing data folder"
  static let options = [
    Option("data", "DIR", help: "The data folder; it's created if it doesn't exist."),
    Option("profile", "PROFILE", help: "standalone (the default) or emulator."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = DataFolder(path: try arguments.required("data"))
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    guard let profile = Profile(rawValue: word) else {
      throw UsageError(message: "--profile is standalone or emulator, not \(word)")
    }
    let isNew = !FileManager.default.fileExists(atPath: folder.path)
    try folder.prepare()
    let lock = try folder.lock()
    try folder.mustHoldNoInstance()
    do {
      let instance = try await Instance.open(
        folder, profile: profile, creates: true, environment: ProcessInfo.processInfo.environment)
      await instance.database.close()
    } catch {
      // Half an instance would be refused by the server and by the next try.
      folder.removeNewInstance(withFolder: isNew)
      if let error = error as? StartError { throw ConfigurationError(error.description) }
      throw error
    }
    try? lock.close()
    Terminal.say(
      """
      Created an instance in \(folder.path). Keep a copy of its master.key somewhere else: without \
      it, second factors can't be read. Next: countersign serve --data \(folder.path)
      """)
    return 0
  }
}

extension DataFolder {
  /// Says that neither a database nor a key may be in the folder.
  func mustHoldNoInstance() throws(ConfigurationError) {
    let files = FileManager.default
    let held = DatabaseSwap.suffixes.map { database + $0 }.filter(files.fileExists)
    let hasDatabase = !held.isEmpty || DatabaseSwap(data: path).isPending
    guard !hasDatabase || files.fileExists(atPath: key) else {
      throw ConfigurationError(
        "There is a database in \(path) already, and no key. Put its master.key back, or name "
          + "another folder.")
    }
    guard !hasDatabase else {
      throw ConfigurationError(
        "There is an instance in \(path) already. To serve it: countersign serve --data \(path)")
    }
    guard !files.fileExists(atPath: key) else {
      throw ConfigurationError(Self.emptyBesideKey(path, "no database"))
    }
  }

  /// Removes what an attempt to create an instance has left.
  func removeNewInstance(withFolder: Bool) {
    let files = FileManager.default
    for file in DatabaseSwap.suffixes.map({ database + $0 }) + [key] {
      try? files.removeItem(atPath: file)
    }
    if withFolder { try? files.removeItem(atPath: path) }
  }
}
