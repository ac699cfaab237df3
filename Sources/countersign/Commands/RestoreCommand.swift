import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity

/// Replaces the database of a stopped server with a backup.
enum RestoreCommand: Command {
  static let name = "restore"
  static let summary = "replaces the database with a backup, while the server is stopped"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option(
      "keep-sessions", variable: false,
      help:
        "Let users and administrators stay signed in. Sessions that were ended after the backup "
        + "are valid again; the audit log records the choice."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = BackupFile(path: try arguments.operand("the backup to restore"))
    let folder = DataFolder(path: try arguments.required("data"))
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ConfigurationError(
        "The data folder \(folder.path) doesn't exist. Create it and put the copy of master.key there."
      )
    }
    let server = try folder.lock()
    let keys = try folder.lockKeysForChange()
    defer {
      try? keys.close()
      try? server.close()
    }
    try folder.finishRestore(holding: server)
    try file.mustBeBackup()
    let environment = ProcessInfo.processInfo.environment
    guard let ring = try folder.existingKey(environment: environment) else {
      throw ConfigurationError(
        "There is no master.key in \(folder.path). Put the copy from the time of the backup there "
          + "first (mode 600): without it, the second factors in \(file.path) can't be read.")
    }
    let restore = Restore(
      file: file, folder: folder, swap: DatabaseSwap(data: folder.path),
      stopped: WallClock.system.now(), keepsSessions: arguments.has("keep-sessions"))
    try await restore.run(ring, environment: environment)
    return 0
  }
}

/// One restore, by somebody who has the locks of the data folder.
private struct Restore {
  let file: BackupFile
  let folder: DataFolder
  let swap: DatabaseSwap
  /// When nobody served the folder any more.
  let stopped: Instant
  let keepsSessions: Bool

  func run(_ ring: KeyRing, environment: [String: String]) async throws {
    let former: ReadOnlySQLiteDatabase?
    let trouble: String?
    (former, trouble) = await openFormer(ring)
    do {
      try swap.begin()
      try file.copy(to: swap.draftDatabase)
      let stored = try await BackupFile(path: swap.draftDatabase).inspect(ring)
      let (report, revived) = try await prepare(stored, former, environment: environment)
      await former?.close()
      try swap.commit(stamp: Self.stamp(stopped))
      let aside = try swap.finish()
      say(stored, report, revived, trouble, aside)
    } catch {
      await former?.close()
      try? swap.discard()
      throw error
    }
  }

  /// The database that is replaced, when it can be read and belongs to the same key.
  private func openFormer(_ ring: KeyRing) async -> (ReadOnlySQLiteDatabase?, String?) {
    guard FileManager.default.fileExists(atPath: folder.database) else {
      return (nil, "there is no former database in \(folder.path)")
    }
    do {
      let database = try ReadOnlySQLiteDatabase(path: folder.database)
      do {
        _ = try await Identity.inspect(database, keys: ring)
        return (database, nil)
      } catch {
        await database.close()
        return (nil, "the former database can't be compared. \(error)")
      }
    } catch {
      return (nil, "the former database can't be read (\(error.message))")
    }
  }

  /// Makes the copy what is to be served: of this version, and without the past in force.
  private func prepare(
    _ stored: StoredInstance, _ former: ReadOnlySQLiteDatabase?, environment: [String: String]
  ) async throws -> (RestoreReport, [RevivedState]?) {
    let draft = DataFolder(path: swap.draft)
    let ring = try folder.existingKey(environment: environment)
    guard let ring else { throw ConfigurationError("The master key has gone.") }
    let instance: Instance
    do {
      instance = try await Instance.open(
        draft, keys: ring, profile: stored.profile, creates: false, migrates: true)
    } catch let error as StartError {
      throw ConfigurationError(error.description)
    }
    do {
      // Tokens tell time by the second: what was issued in the last one before the stop is older
      // than now only after it.
      while WallClock.system.now().seconds <= stopped.seconds {
        try await Task.sleep(for: .milliseconds(50))
      }
      var revived: [RevivedState]?
      if let former {
        revived = try? await RevivedState.compare(instance.database, with: former)
      }
      let report = try await instance.identity.endTheRestoredPast(
        file: (file.path as NSString).lastPathComponent, keepsSessions: keepsSessions,
        former: former, by: Author(actor: .commandLine))
      try await instance.database.checkpoint()
      await instance.database.close()
      return (report, revived)
    } catch {
      await instance.database.close()
      throw error
    }
  }

  private func say(
    _ stored: StoredInstance, _ report: RestoreReport, _ revived: [RevivedState]?,
    _ trouble: String?, _ aside: String?
  ) {
    let since = stored.latest?.rfc3339Milliseconds ?? "it was made"
    Terminal.say("Restored \(file.path): \(stored.users) users, as of \(since).")
    if let aside, FileManager.default.fileExists(atPath: aside) {
      Terminal.say("The former database is in \(aside). Delete it when you don't need it any more.")
    }
    Terminal.say("Ended: \(report.summary). Time steps of one-time codes up to now count as used.")
    if keepsSessions {
      Terminal.say("Sessions were kept, those included that were ended after the backup.")
    }
    guard let revived else {
      Terminal.say(
        """
        The backup doesn't know what was removed or revoked since \(since), and \
        \(trouble ?? "the former database can't be compared"). Repeat what you know of: removed \
        factors and users, revoked tokens, keys and roles, changed passwords, used recovery codes.
        """)
      return
    }
    guard !revived.isEmpty else {
      Terminal.say("Nothing that was removed or revoked since \(since) is back.")
      return
    }
    Terminal.say(
      """
      Removed, revoked or changed since \(since), and back with this backup (\(revived.count)). \
      Check each and repeat what must not be in force:
      """)
    for state in revived { Terminal.say("  \(state.kind)\t\(state.what)") }
  }

  /// A time as part of a name: `20261121T060102Z`.
  private static func stamp(_ moment: Instant) -> String {
    let text = moment.rfc3339Milliseconds.prefix { $0 != "." }
    return text.filter { $0 != "-" && $0 != ":" } + "Z"
  }
}
