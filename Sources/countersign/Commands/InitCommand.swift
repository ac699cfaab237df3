import Crypto
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
    let environment = ProcessInfo.processInfo.environment
    let serving = ServeOptions(folder, arguments)
    try folder.prepare()
    let lock = try folder.lock()
    do { try await folder.mustBeFree(serving, environment: environment) } catch {
      if isNew { folder.removeNewInstance(withFolder: true) }
      throw error
    }
    do {
      let instance = try await Instance.open(
        folder, assets: .ofCommands, profile: profile, creates: true, environment: environment)
      await instance.database.close()
    } catch {
      if await folder.keyMaySealDatabase() {
        // The next init continues with the key, without which the database couldn't be read.
        Terminal.complain(Message("cli.init-can-be-repeated", ["key": .text(folder.key)]))
      } else {
        // The server and the next init would reject half an instance.
        folder.removeNewInstance(withFolder: isNew)
      }
      if let error = error as? StartError { throw ConfigurationError(error) }
      throw error
    }
    lock.release()
    Terminal.say(
      Message(
        "cli.created-an-instance-in-keep-a",
        ["folder": .text(folder.path), "options": .text(serving.text)]))
    return 0
  }
}

/// The options of a command that uses a new instance, for operators.
struct ServeOptions: Sendable {
  let text: String
  /// The address of the database as it was given; nil for a file.
  let address: String?

  init(_ folder: DataFolder, _ arguments: Arguments) {
    address = arguments.value(DatabaseLocation.url.name)
    text = "--data \(folder.path)" + (address.map { " --database '\($0)'" } ?? "")
  }
}

extension DataFolder {
  /// Checks that neither the folder nor the database on the server contains an instance, except one
  /// whose creation was interrupted.
  fileprivate func mustBeFree(
    _ serving: ServeOptions, environment: [String: String]
  ) async throws {
    guard isOnServer else { return try mustHoldNoInstance() }
    let files = FileManager.default
    guard !files.fileExists(atPath: database) else {
      throw ConfigurationError(
        Message(
          "cli.the-folder-has-a-file-to-move",
          ["path": .text(path), "address": .text(serving.address ?? "")]))
    }
    let hasFile = files.fileExists(atPath: key)
    switch try await creation(of: existingKey(environment: environment)) {
    case .begun: return
    case .none where !hasFile: return
    case .none:
      throw ConfigurationError(
        Message("cli.the-key-has-no-database-on-the-server", ["key": .text(key)]))
    case .complete:
      throw ConfigurationError(
        Message("cli.the-database-has-an-instance", ["options": .text(serving.text)]))
    case .otherKey:
      throw ConfigurationError(
        Message("cli.the-database-has-another-key", ["path": .text(path)]))
    }
  }

  /// Returns how far the creation of an instance in the database got.
  private func creation(of keys: KeyRing?) async throws -> InstanceCreation {
    let database = try await openForReading()
    do throws(StartError) {
      let creation = try await Identity.creation(in: database, keys: keys)
      await database.close()
      return creation
    } catch {
      await database.close()
      throw ConfigurationError(error)
    }
  }

  /// Whether a database on a server may have something that only the key in the folder opens.
  fileprivate func keyMaySealDatabase() async -> Bool {
    guard isOnServer, let keys = try? keptKeys() else { return false }
    do {
      switch try await creation(of: keys) {
      case .begun, .complete: return true
      case .none, .otherKey: return false
      }
    } catch {
      return true
    }
  }
}

extension DataFolder {
  /// Checks that the folder contains neither a database nor a key.
  func mustHoldNoInstance() throws(ConfigurationError) {
    let files = FileManager.default
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
