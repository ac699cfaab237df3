import Crypto
import DatabaseSQLite
import Foundation
import Identity

/// An opened data folder with the rules over it.
struct Instance: Sendable {
  let identity: Identity
  let database: SQLiteDatabase
  let keys: KeyRing
  let hasher: PasswordHasher
  /// Held by commands beside a server, so that the master key does not change under them.
  var lock: FileHandle?

  /// Opens a folder as a profile, and makes its database ready.
  ///
  /// - Throws: ``ConfigurationError``, with a sentence for each thing in the way.
  static func open(
    _ folder: DataFolder, profile: Profile, defaultProject: ID<Project>? = nil,
    carriesMail: Bool = false, creates: Bool = false, migrates: Bool = true,
    environment: [String: String]
  ) async throws -> Instance {
    try await open(
      folder, keys: try folder.masterKey(environment: environment), profile: profile,
      defaultProject: defaultProject, carriesMail: carriesMail, creates: creates, migrates: migrates
    )
  }

  /// The same with keys that were read already.
  static func open(
    _ folder: DataFolder, keys: KeyRing, profile: Profile, defaultProject: ID<Project>? = nil,
    carriesMail: Bool = false, creates: Bool, migrates: Bool
  ) async throws -> Instance {
    let database = try folder.open()
    let hasher = PasswordHasher(width: ProcessInfo.processInfo.activeProcessorCount)
    do {
      let identity = try Identity(
        database: database, keys: keys, profile: profile, hasher: hasher,
        defaultProject: defaultProject, carriesMail: carriesMail)
      try await identity.prepare(creates: creates, migrates: migrates)
      return Instance(identity: identity, database: database, keys: keys, hasher: hasher)
    } catch let error as StartError {
      await database.close()
      throw error
    }
  }

  /// Opens an existing folder as whatever profile it is stamped with, for commands beside a server.
  static func existing(_ arguments: Arguments) async throws -> Instance {
    let folder = DataFolder(path: try arguments.required("data"))
    try folder.mustExist()
    let lock = try folder.lockKeys()
    // Held while the database may be migrated, so that no server starts on it meanwhile.
    let server = try folder.lockIfFree()
    var instance = try await existing(folder, migrates: server != nil)
    try? server?.close()
    instance.lock = lock
    return instance
  }

  /// Opens an existing folder as whatever profile it is stamped with.
  ///
  /// - Parameters:
  ///   - folder: The data folder.
  ///   - migrates: False while a server uses the folder, which may be an older one.
  /// - Returns: The instance, ready for use.
  /// - Throws: When the folder holds no instance, or one that this version can't use.
  static func existing(_ folder: DataFolder, migrates: Bool) async throws -> Instance {
    let environment = ProcessInfo.processInfo.environment
    try folder.mustHoldInstance()
    do {
      do {
        return try await open(
          folder, profile: .standalone, migrates: migrates, environment: environment)
      } catch StartError.wrongProfile(let profile) {
        return try await open(
          folder, profile: profile, migrates: migrates, environment: environment)
      }
    } catch let error as StartError {
      throw ConfigurationError(error.description)
    }
  }

  /// Does something with an existing folder and closes it.
  static func use<T: Sendable>(
    _ arguments: Arguments, _ body: @Sendable (Instance) async throws -> T
  ) async throws -> T {
    let instance = try await existing(arguments)
    do {
      let result = try await body(instance)
      await instance.database.close()
      return result
    } catch {
      await instance.database.close()
      throw error
    }
  }

  static let dataOption = Option("data", "DIR", help: "The server's data folder.")
}
