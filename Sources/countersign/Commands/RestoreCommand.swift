import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity

/// Replaces the database of a stopped server with a backup.
enum RestoreCommand: Command {
  static let name = "restore"
  static let summary = "restores the database from a backup; the server must be stopped"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option(
      "keep-sessions", variable: false,
      help:
        "Keep users and administrators signed in. Sessions that were ended after the backup are "
        + "valid again; recorded in the audit log."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = BackupFile(path: try arguments.operand("the backup to restore"))
    let folder = DataFolder(path: try arguments.required("data"))
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ConfigurationError(
        "The data folder \(folder.path) doesn't exist. Create it and put your copy of master.key "
          + "there.")
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
        "There's no master.key in \(folder.path). Put the copy from the time of the backup there "
          + "first (mode 600): without it, the second factors in \(file.path) can't be read.")
    }
    let restore = Restore(
      file: file, folder: folder, swap: DatabaseSwap(data: folder.path),
      stopped: WallClock.system.now(), keepsSessions: arguments.has("keep-sessions"))
    try await restore.run(ring, environment: environment)
    return 0
  }
}

/// A restore in progress; the caller holds both locks of the data folder.
private struct Restore {
  let file: BackupFile
  let folder: DataFolder
  let swap: DatabaseSwap
  /// When the locks were acquired, so that no server used the folder from then on.
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

  /// Opens the database being replaced.
  ///
  /// - Returns: The database, when it can be read and was encrypted with the same key; otherwise
  ///   the reason.
  private func openFormer(_ ring: KeyRing) async -> (ReadOnlySQLiteDatabase?, String?) {
    guard FileManager.default.fileExists(atPath: folder.database) else {
      return (nil, "there's no previous database in \(folder.path)")
    }
    do {
      let database = try ReadOnlySQLiteDatabase(path: folder.database)
      do {
        _ = try await Identity.inspect(database, keys: ring)
        return (database, nil)
      } catch {
        await database.close()
        return (nil, "the previous database can't be compared. \(error)")
      }
    } catch {
      return (nil, "the previous database can't be read (\(error.message))")
    }
  }

  /// Prepares the copy for serving: migrates it, and ends sessions and codes from before the
  /// restore.
  private func prepare(
    _ stored: StoredInstance, _ former: ReadOnlySQLiteDatabase?, environment: [String: String]
  ) async throws -> (RestoreReport, [RevivedState]?) {
    let draft = DataFolder(path: swap.draft)
    let ring = try folder.existingKey(environment: environment)
    guard let ring else { throw ConfigurationError("The master key is missing.") }
    let instance: Instance
    do {
      instance = try await Instance.open(
        draft, assets: .ofCommands, keys: ring, profile: stored.profile, creates: false,
        migrates: true)
    } catch let error as StartError {
      throw ConfigurationError(error.text)
    }
    do {
      // Tokens have timestamps in whole seconds, so one issued in the last second before the stop
      // is older than now only once that second has passed.
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
    let since = stored.latest?.rfc3339Milliseconds ?? "it was created"
    Terminal.say("Restored \(file.path): \(stored.users) users, as of \(since).")
    if let aside, FileManager.default.fileExists(atPath: aside) {
      Terminal.say("The previous database is in \(aside). Delete it when you no longer need it.")
    }
    Terminal.say("Ended: \(report.summary). One-time codes up to now are marked as used.")
    if keepsSessions {
      Terminal.say("Sessions were kept, including those that were ended after the backup.")
    }
    guard let revived else {
      Terminal.say(
        """
        The backup doesn't include removals or revocations since \(since), and \
        \(trouble ?? "the previous database can't be compared"). Repeat those you know of: removed \
        factors and users, revoked tokens, keys, and roles, changed passwords, used recovery codes.
        """)
      return
    }
    guard !revived.isEmpty else {
      Terminal.say(
        "This restore brought back nothing that was removed, revoked, or changed since \(since).")
      return
    }
    Terminal.say(
      """
      Removed, revoked, or changed since \(since), and brought back by this restore \
      (\(revived.count)). Check each one, and remove, revoke, or change it again if needed:
      """)
    for state in revived { Terminal.say("  \(state.kind.text)\t\(state.what)") }
  }

  /// Formats a time for a file name, such as `20261121T060102Z`.
  private static func stamp(_ moment: Instant) -> String {
    let text = moment.rfc3339Milliseconds.prefix { $0 != "." }
    return text.filter { $0 != "-" && $0 != ":" } + "Z"
  }
}

extension RestoreReport {
  /// What was invalidated, as text.
  fileprivate var summary: String {
    func count(_ number: Int, _ one: String, _ many: String) -> String {
      "\(number) \(number == 1 ? one : many)"
    }
    var parts = [
      sessions.map { count($0, "user session", "user sessions") },
      consoleSessions.map { count($0, "administrator session", "administrator sessions") },
    ].compactMap { $0 }
    for (number, one, many) in [
      (approvals, "pending approval", "pending approvals"),
      (bulkRemovals, "bulk removal", "bulk removals"),
      (links, "link or code in a message", "links and codes in messages"),
      (messages, "unsent message with a link or code", "unsent messages with links or codes"),
      (temporaryCodes, "temporary code", "temporary codes"),
      (invitations, "invitation", "invitations"),
      (recoveryCodes, "used recovery code", "used recovery codes"),
    ] where number > 0 { parts.append(count(number, one, many)) }
    return parts.joined(separator: ", ")
  }
}
