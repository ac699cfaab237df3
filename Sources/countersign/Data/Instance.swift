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
    carriesMail: Bool = false, environment: [String: String]
  ) async throws -> Instance {
    let keys = try folder.masterKey(environment: environment)
    let database = try folder.open()
    let hasher = PasswordHasher(width: ProcessInfo.processInfo.activeProcessorCount)
    do {
      let identity = try Identity(
        database: database, keys: keys, profile: profile, hasher: hasher,
        defaultProject: defaultProject, carriesMail: carriesMail)
      try await identity.prepare()
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
    var instance = try await existing(folder)
    instance.lock = lock
    return instance
  }

  /// Opens an existing folder as whatever profile it is stamped with.
  static func existing(_ folder: DataFolder) async throws -> Instance {
    let environment = ProcessInfo.processInfo.environment
    do {
      do {
        return try await open(folder, profile: .standalone, environment: environment)
      } catch StartError.wrongProfile(let profile) {
        return try await open(folder, profile: profile, environment: environment)
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
