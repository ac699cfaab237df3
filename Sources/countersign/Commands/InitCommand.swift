import Crypto
import Foundation
import Identity
import Localization

enum InitCommand: Command {
  static let name = "init"
  static let summary = Message("creates a new instance in an empty or missing data folder")
  static let options = [
    Option("data", "DIR", help: Message("The data folder; created if missing.")),
    DatabaseLocation.url,
    DatabaseLocation.passwordFile,
    Option("profile", "PROFILE", help: Message("standalone or emulator (default: standalone).")),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = try DataFolder(arguments)
    let word = arguments.value("profile") ?? Profile.standalone.rawValue
    guard let profile = Profile(rawValue: word) else {
      throw UsageError(
        Message("--profile must be standalone or emulator, not {word}", ["word": .text(word)]))
    }
    let isNew = !FileManager.default.fileExists(atPath: folder.path)
    if !isNew { try folder.mustHoldNothingElse() }
    let environment = ProcessInfo.processInfo.environment
    let serving = ServeOptions(folder, arguments)
    try folder.prepare()
    let lock = try folder.lock()
    do {
      if folder.isOnServer {
        try await complete(folder, serving, profile, environment)
      } else {
        try await create(folder, holding: lock, profile, environment)
      }
    } catch {
      if isNew, folder.isVacant { try? FileManager.default.removeItem(atPath: folder.path) }
      throw error
    }
    try folder.makePrivate()
    lock.release()
    Terminal.say(
      Message(
        """
        Created an instance in {folder}. Keep a copy of its master.key somewhere else: without \
        it, second factors can't be read. Next: countersign serve {options}
        """,
        ["folder": .text(folder.path), "options": .text(serving.text)]))
    return 0
  }

  private static func create(
    _ folder: DataFolder, holding _: FolderLock, _ profile: Profile, _ environment: [String: String]
  ) async throws {
    let new = NewInstance(data: folder.path)
    guard try !new.finishCreation() else { return }
    try folder.mustHoldNoInstance()
    try await new.create(assets: .ofCommands, profile: profile, environment: environment)
  }

  private static func complete(
    _ folder: DataFolder, _ serving: ServeOptions, _ profile: Profile,
    _ environment: [String: String]
  ) async throws {
    try await folder.mustBeFree(serving, environment: environment)
    do {
      let instance = try await Instance.open(
        folder, assets: .ofCommands, profile: profile, creates: true, environment: environment)
      await instance.database.close()
    } catch {
      if await folder.keyMaySealDatabase() {
        // The next init continues with the key, without which the database couldn't be read.
        Terminal.complain(
          Message(
            """
            The instance is incomplete. To complete it, run the same command again. {key} stays, \
            because the database may have data that it encrypts.
            """, ["key": .text(folder.key)]))
      } else {
        // The server and the next init would reject half an instance.
        try? FileManager.default.removeItem(atPath: folder.key)
      }
      throw ConfigurationError.starting(error)
    }
  }
}

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
    let files = FileManager.default
    guard !files.fileExists(atPath: database) else {
      throw ConfigurationError(
        Message(
          """
          {path} already contains an instance in a file. To move it: countersign move --from \
          {path} --to '{address}'
          """,
          ["path": .text(path), "address": .text(serving.address ?? "")]))
    }
    let hasFile = files.fileExists(atPath: key)
    switch try await creation(of: existingKey(environment: environment)) {
    case .begun: return
    case .none where !hasFile: return
    case .none:
      throw ConfigurationError(
        Message(
          """
          {key} exists, but the database has no instance of this key. Check --database. If an \
          init was interrupted, nothing uses the key yet: delete it and run init again.
          """, ["key": .text(key)]))
    case .complete:
      throw ConfigurationError(
        Message(
          "The database already contains an instance. To serve it: countersign serve {options}",
          ["options": .text(serving.text)]))
    case .otherKey:
      throw ConfigurationError(
        Message(
          """
          The database already contains an instance that another master key encrypts. To serve \
          it, put its master.key in {path}. For a new instance, create another database.
          """, ["path": .text(path)]))
    }
  }

  private func creation(of keys: KeyRing?) async throws -> InstanceCreation {
    let database = try await openForReading()
    do {
      return try await database.closing { try await Identity.creation(in: database, keys: keys) }
    } catch {
      throw ConfigurationError.starting(error)
    }
  }

  /// Whether a database on a server may have something that only the key in the folder opens.
  fileprivate func keyMaySealDatabase() async -> Bool {
    guard let keys = try? keptKeys() else { return false }
    do {
      switch try await creation(of: keys) {
      case .begun, .complete: return true
      case .none, .otherKey: return false
      }
    } catch {
      return true
    }
  }

  /// Checks that the folder contains nothing but parts of an instance, which other errors name, and
  /// what a new volume has.
  fileprivate func mustHoldNothingElse() throws(ConfigurationError) {
    let held = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let others = held.filter { !Self.isPart($0) && $0 != "lost+found" }.sorted()
    guard let first = others.first else { return }
    throw ConfigurationError(
      Message(
        "{path} has other files, such as {file}. A new instance needs an empty folder.",
        ["path": .text(path), "file": .text(first)]))
  }

  fileprivate func makePrivate() throws(ConfigurationError) {
    do {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: Self.resolved(path))
    } catch {
      throw ConfigurationError(writing: path, error)
    }
  }

  fileprivate func mustHoldNoInstance() throws(ConfigurationError) {
    let hasDatabase = hasDatabaseFiles || DatabaseSwap(data: path).isPending
    let hasKey = FileManager.default.fileExists(atPath: key)
    guard hasDatabase || hasKey else { return }
    guard hasKey else {
      throw ConfigurationError(
        Message(
          """
          {path} already contains a database, but no key. Put its master.key back, or choose \
          another folder.
          """, ["path": .text(path)]))
    }
    // Says why it can't be served, if it can't.
    if !DatabaseSwap(data: path).isPending { try mustHoldInstance() }
    throw ConfigurationError(
      Message(
        "{path} already contains an instance. To serve it: countersign serve --data {path}",
        ["path": .text(path)]))
  }
}
