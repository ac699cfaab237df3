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
  /// The upgrade that opening it finished; nil for none.
  var upgrade: UpgradeReport?
  /// Held by commands that run alongside a server, so that the master key can't change meanwhile.
  var lock: FolderLock?

  var mail: CatalogMailWriter { CatalogMailWriter(catalogs) }

  /// Opens a folder with a profile and prepares its database; `say` gets what is done for that.
  ///
  /// `keys` are the folder's, if they were already read.
  ///
  /// - Throws: ``ConfigurationError``, with a message for each problem.
  static func open(
    _ folder: DataFolder, assets: Assets, keys: KeyRing? = nil, profile: Profile,
    defaultProject: ID<Project>? = nil, carriesMail: Bool = false, carriesText: Bool = false,
    smsLimits: SMSLimits = SMSLimits(), providerTransport: (any ProviderTransport)? = nil,
    remoteClients: RemoteClients? = nil,
    creates: Bool = false, migrates: Bool = true, backup: UpgradeBackup.Choice = .create,
    environment: [String: String],
    say: @escaping @Sendable (Message) -> Void = { Terminal.complain($0) }
  ) async throws -> Instance {
    let keys = try keys ?? folder.masterKey(environment: environment)
    let catalogs = try assets.catalogs()
    let database = try await folder.open()
    let hasher = PasswordHasher(width: ProcessInfo.processInfo.activeProcessorCount)
    do {
      let identity = try Identity(
        database: database, keys: keys, profile: profile, hasher: hasher,
        mail: CatalogMailWriter(catalogs), defaultProject: defaultProject, carriesMail: carriesMail,
        carriesText: carriesText, smsLimits: smsLimits, providerTransport: providerTransport,
        remoteClients: remoteClients)
      // A server's database has its own backups.
      if migrates, !creates, backup == .create, let database = database as? SQLiteDatabase {
        try await UpgradeBackup(folder: folder).create(identity, database, say: say)
      }
      let upgrade = try await identity.prepare(
        creates: creates, migrates: migrates, dropping: { say(.dropped($0)) },
        progress: { if !creates { say(MigrationProgress.message($0, $1, $2)) } })
      return Instance(
        identity: identity, database: database, keys: keys, hasher: hasher, catalogs: catalogs,
        upgrade: upgrade)
    } catch {
      await database.close()
      guard case StartError.notMigrated(let names) = error else { throw error }
      let place =
        if case .server(let address, _) = folder.location { "\(address)" } else { folder.database }
      throw ConfigurationError(.notMigrated(place, names, folder))
    }
  }

  /// Opens an existing folder with the profile it was created for, for commands that run alongside
  /// a server.
  static func existing(
    _ arguments: Arguments, remoteClients: RemoteClients? = nil
  ) async throws -> Instance {
    let folder = try DataFolder(arguments)
    try folder.mustExist()
    let lock = try folder.lockKeys()
    var instance = try await existing(folder, migrates: false, remoteClients: remoteClients)
    instance.lock = lock
    return instance
  }

  /// Opens an existing folder with the profile it was created for.
  ///
  /// `migrates` is only for `countersign migrate`: other commands refuse a database that lacks
  /// migrations. Throws when the folder has no instance, or one that this version can't use.
  static func existing(
    _ folder: DataFolder, migrates: Bool, backup: UpgradeBackup.Choice = .create,
    remoteClients: RemoteClients? = nil
  ) async throws -> Instance {
    let environment = ProcessInfo.processInfo.environment
    try folder.mustHoldInstance()
    do {
      do {
        return try await open(
          folder, assets: .ofCommands, profile: .standalone, remoteClients: remoteClients,
          migrates: migrates, backup: backup, environment: environment)
      } catch StartError.wrongProfile(let profile) {
        return try await open(
          folder, assets: .ofCommands, profile: profile, remoteClients: remoteClients,
          migrates: migrates, backup: backup, environment: environment)
      }
    } catch {
      throw ConfigurationError.starting(error)
    }
  }

  /// Opens an existing folder, runs `body`, and closes the folder.
  static func use<T: Sendable>(
    _ arguments: Arguments, remoteClients: RemoteClients? = nil,
    _ body: @Sendable (Instance) async throws -> T
  ) async throws -> T {
    let instance = try await existing(arguments, remoteClients: remoteClients)
    return try await instance.database.closing { try await body(instance) }
  }

  func mustHave(_ project: ID<Project>, needs capability: Capability = .hosting) async throws {
    _ = try await pool(project.text, tenant: nil, needs: capability)
  }

  /// - Throws: ``ConfigurationError`` when it doesn't exist, and `ActionDenial.notOffered`.
  func pool(
    _ project: String, tenant: String?, needs capability: Capability = .hosting
  ) async throws -> Pool {
    do {
      let pool = try await identity.pools.existing(
        project: ID(project), tenant: tenant.map { ID($0) })
      try pool.check(capability)
      return pool
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

/// The creation of an instance whose database is a file.
///
/// The key and the database are created in a separate folder. Renaming that folder is the point of
/// no return: what was interrupted before it is discarded, and a new attempt starts from the
/// beginning; what was interrupted after it is finished by the next command or start. The data
/// folder itself therefore never has a part of an instance, and a key without a database in it is
/// one whose database was lost. The caller holds the server's lock.
struct NewInstance: Sendable {
  let data: String
  /// Moves a file; replaced in tests to simulate a crash.
  var move: @Sendable (_ from: String, _ to: String) throws -> Void = { from, to in
    try DurableFiles.move(from, to: to)
  }

  var draftPath: String { "\(data)/init.draft" }

  private var folder: DataFolder { DataFolder(path: data) }
  private var draft: DataFolder { DataFolder(path: draftPath) }
  private var ready: DataFolder { DataFolder(path: "\(data)/init.ready") }

  /// Whether a creation has passed the point of no return and isn't finished.
  var isPending: Bool { FileManager.default.fileExists(atPath: ready.path) }

  /// Creates an instance in a vacant data folder, replacing what an interrupted attempt left.
  ///
  /// - Throws: After which the data folder is vacant, or the next command finishes the creation.
  func create(assets: Assets, profile: Profile, environment: [String: String]) async throws {
    try writing {
      try discard()
      try DurableFiles.createFolder(draft.path)
    }
    do {
      let instance: Instance
      do {
        instance = try await Instance.open(
          draft, assets: assets, profile: profile, creates: true, environment: environment)
      } catch {
        throw ConfigurationError.starting(error)
      }
      try await instance.database.closing { try await instance.database.checkpoint() }
      try writing { try commit() }
    } catch {
      try? discard()
      throw error is DatabaseError ? ConfigurationError(writing: data, error) : error
    }
    try writing { try finish() }
  }

  /// Removes what was created before the point of no return.
  func discard() throws { try remove(draft) }

  /// Renames the folder of the closed database, which is the point of no return.
  private func commit() throws {
    try DurableFiles.sync(draft.database)
    try DurableFiles.sync(draft.path)
    try move(draft.path, ready.path)
  }

  /// Moves the key and the database into place, continuing where an interrupted call stopped.
  ///
  /// - Returns: Whether the data folder now has the new instance; false when no creation was
  ///   pending, or when the folder has got another key or database since, which are never replaced.
  @discardableResult
  func finish() throws -> Bool {
    guard isPending else { return false }
    // The renamed draft folder, which must be durable before its files are moved.
    try DurableFiles.sync(data)
    let files = FileManager.default
    let hasKey = files.fileExists(atPath: ready.key)
    let hasDatabase = files.fileExists(atPath: ready.database)
    guard !(hasKey && files.fileExists(atPath: folder.key)),
      !(hasDatabase && folder.hasDatabaseFiles)
    else {
      try remove(ready)
      return false
    }
    for (isLeft, from, to) in [
      // The key first: a database without a key is rejected.
      (hasKey, ready.key, folder.key), (hasDatabase, ready.database, folder.database),
    ] where isLeft {
      try move(from, to)
      try DurableFiles.sync(data)
    }
    try remove(ready)
    return true
  }

  private func remove(_ folder: DataFolder) throws {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    try FileManager.default.removeItem(atPath: folder.path)
  }

  @discardableResult
  private func writing<T>(_ body: () throws -> T) throws(ConfigurationError) -> T {
    do { return try body() } catch { throw ConfigurationError(writing: data, error) }
  }

  /// Does the same as ``finish()``, and explains its failure: the next command continues.
  func finishCreation() throws(ConfigurationError) -> Bool { try writing { try finish() } }
}

extension DataFolder {
  /// Whether the folder has the file of a database, or one of those that SQLite keeps next to it.
  var hasDatabaseFiles: Bool {
    databaseFiles.contains { FileManager.default.fileExists(atPath: $0) }
  }

  /// Finishes a creation that was interrupted after its point of no return.
  func finishCreation() throws(ConfigurationError) {
    guard NewInstance(data: path).isPending else { return }
    let server = try lock()
    try finishCreation(holding: server)
    server.release()
  }

  /// Does the same for a caller that already holds the server lock, and discards a creation that
  /// was interrupted before its point of no return.
  func finishCreation(
    holding _: FolderLock, say: (Message) -> Void = { Terminal.complain($0) }
  ) throws(ConfigurationError) {
    let new = NewInstance(data: path)
    try? new.discard()
    guard try new.finishCreation() else { return }
    say(Message("Finished the creation of the instance, which was interrupted."))
  }
}
