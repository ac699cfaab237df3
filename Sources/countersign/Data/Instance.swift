import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity
import Localization
import MailText

/// An open data folder and the use cases on top of it.
struct Instance: Sendable {
  let identity: Identity
  let database: any InstanceDatabase
  let keys: KeyRing
  let hasher: PasswordHasher
  /// The installed catalogs of messages, English first.
  let catalogs: [Catalog]
  /// Held by commands that run alongside a server, so that the master key can't change meanwhile.
  var lock: FolderLock?

  var mail: CatalogMailWriter { CatalogMailWriter(catalogs) }

  /// Opens a folder with a profile and prepares its database; `say` gets what is done for that.
  ///
  /// - Throws: ``ConfigurationError``, with a message for each problem.
  static func open(
    _ folder: DataFolder, assets: Assets, profile: Profile, defaultProject: ID<Project>? = nil,
    carriesMail: Bool = false, smsLimits: SMSLimits? = nil,
    providerTransport: (any ProviderTransport)? = nil, creates: Bool = false,
    migrates: Bool = true, backup: UpgradeBackup.Choice = .create, environment: [String: String],
    say: @escaping @Sendable (Message) -> Void = { Terminal.complain($0) }
  ) async throws -> Instance {
    try await open(
      folder, assets: assets, keys: try folder.masterKey(environment: environment),
      profile: profile, defaultProject: defaultProject, carriesMail: carriesMail,
      smsLimits: smsLimits, providerTransport: providerTransport, creates: creates,
      migrates: migrates, backup: backup, say: say)
  }

  /// Opens a folder with keys that were already read.
  static func open(
    _ folder: DataFolder, assets: Assets, keys: KeyRing, profile: Profile,
    defaultProject: ID<Project>? = nil, carriesMail: Bool = false, smsLimits: SMSLimits? = nil,
    providerTransport: (any ProviderTransport)? = nil, creates: Bool, migrates: Bool,
    backup: UpgradeBackup.Choice,
    say: @escaping @Sendable (Message) -> Void = { Terminal.complain($0) }
  ) async throws -> Instance {
    let catalogs = try assets.catalogs()
    let database = try await folder.open()
    let hasher = PasswordHasher(width: ProcessInfo.processInfo.activeProcessorCount)
    do {
      let identity = try Identity(
        database: database, keys: keys, profile: profile, hasher: hasher,
        mail: CatalogMailWriter(catalogs), defaultProject: defaultProject, carriesMail: carriesMail,
        smsLimits: smsLimits, providerTransport: providerTransport)
      // A server's database has its own backups.
      if migrates, !creates, backup == .create, let database = database as? SQLiteDatabase {
        try await UpgradeBackup(folder: folder).create(identity, database, say: say)
      }
      try await identity.prepare(
        creates: creates, migrates: migrates,
        progress: { if !creates { say(MigrationProgress.message($0, $1, $2)) } })
      return Instance(
        identity: identity, database: database, keys: keys, hasher: hasher, catalogs: catalogs)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens an existing folder with the profile it was created for, for commands that run alongside
  /// a server.
  static func existing(_ arguments: Arguments) async throws -> Instance {
    let folder = try DataFolder(arguments)
    try folder.mustExist()
    let lock = try folder.lockKeys()
    // Held while the database may be migrated, so that no server starts meanwhile.
    let server = try folder.lockIfFree()
    var instance = try await existing(folder, migrates: server != nil)
    server?.release()
    instance.lock = lock
    return instance
  }

  /// Opens an existing folder with the profile it was created for.
  ///
  /// `migrates` is false while a server uses the folder, which may be an older version.
  ///
  /// - Throws: When the folder has no instance, or one that this version can't use.
  static func existing(
    _ folder: DataFolder, migrates: Bool, backup: UpgradeBackup.Choice = .create
  ) async throws -> Instance {
    let environment = ProcessInfo.processInfo.environment
    try folder.mustHoldInstance()
    do {
      do {
        return try await open(
          folder, assets: .ofCommands, profile: .standalone, migrates: migrates, backup: backup,
          environment: environment)
      } catch StartError.wrongProfile(let profile) {
        return try await open(
          folder, assets: .ofCommands, profile: profile, migrates: migrates, backup: backup,
          environment: environment)
      }
    } catch {
      throw ConfigurationError.starting(error)
    }
  }

  /// Opens an existing folder, runs `body`, and closes the folder.
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

  func mustHave(_ project: ID<Project>) async throws {
    _ = try await pool(project.text, tenant: nil)
  }

  /// - Throws: ``ConfigurationError`` when it doesn't exist.
  func pool(_ project: String, tenant: String?) async throws -> Pool {
    do {
      return try await identity.pools.existing(
        project: ID(project), tenant: tenant.map { ID($0) })
    } catch let error as PoolLookupError {
      switch error {
      case .projectNotFound, .projectDeleted:
        throw ConfigurationError(Self.notFound(project, tenant: nil))
      case .tenantNotFound, .tenantDeleted:
        throw ConfigurationError(Self.notFound(project, tenant: tenant))
      }
    }
  }

  static func notFound(_ project: String, tenant: String?) -> Message {
    let name = Message.Value.text(project)
    guard let tenant else {
      return Message(
        "There's no project {project}. countersign project list prints the IDs.", ["project": name])
    }
    return Message(
      """
      The project {project} has no tenant {tenant}. Tenant IDs end in random characters: \
      countersign tenant list prints them.
      """, ["project": name, "tenant": .text(tenant)])
  }

  static let dataOption = Option("data", "DIR", help: Message("The server's data folder."))

  static let options = [dataOption, DatabaseLocation.url, DatabaseLocation.passwordFile]
}
