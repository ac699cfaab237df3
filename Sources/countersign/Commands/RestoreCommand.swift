import Crypto
import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization

/// Replaces the database of a stopped server with a backup.
enum RestoreCommand: Command {
  static let name = "restore"
  static let summary = Message("cli.summary-restores-the-database-from-a-backup")
  static let operands = "FILE"
  static let options =
    Instance.options + [
      Option(
        "keep-sessions", variable: false,
        help: Message("cli.help-keep-users-and-administrators-signed-in"))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = BackupFile(path: try arguments.operand(Message("cli.the-backup-to-restore")))
    try DatabaseLocation.mustBeFile(arguments, command: name)
    let folder = DataFolder(path: try arguments.required("data"))
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ConfigurationError(
        Message("cli.the-data-folder-doesnt-exist-create", ["folder": .text(folder.path)]))
    }
    let server = try folder.lock()
    let keys = try folder.lockKeysForChange()
    defer {
      keys.release()
      server.release()
    }
    try folder.finishCreation(holding: server)
    try folder.finishRestore(holding: server)
    try file.mustBeBackup()
    let environment = ProcessInfo.processInfo.environment
    guard let ring = try folder.existingKey(environment: environment) else {
      throw ConfigurationError(
        Message(
          "cli.theres-no-master-key-in-put",
          ["folder": .text(folder.path), "file": .text(file.path)]))
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
    let trouble: Message?
    (former, trouble) = await openFormer(ring)
    do {
      try swap.begin()
      try file.copy(to: swap.draftDatabase)
      let stored = try await BackupFile(path: swap.draftDatabase).inspect(ring, as: file.path)
      let report = try await prepare(stored, former, environment: environment)
      await former?.close()
      let messages = messages(stored, report, trouble)
      // If this process ends from here on, the next command or start finishes.
      try swap.commit(stamp: stopped.fileStamp)
      try swap.finishRestore()
      for message in messages { Terminal.say(message) }
    } catch {
      await former?.close()
      try? swap.discard()
      guard error is DatabaseError || error is CocoaError || error is SystemError else {
        throw error
      }
      throw ConfigurationError(
        Message(
          "cli.the-backup-couldnt-be-restored", ["reason": .text(OperatorText.reason(of: error))]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
  }

  /// Opens the database being replaced.
  ///
  /// - Returns: The database, when it can be read and was encrypted with the same key; otherwise
  ///   the reason.
  private func openFormer(_ ring: KeyRing) async -> (ReadOnlySQLiteDatabase?, Message?) {
    guard FileManager.default.fileExists(atPath: folder.database) else {
      return (nil, Message("cli.theres-no-previous-database-in", ["folder": .text(folder.path)]))
    }
    do {
      let database = try ReadOnlySQLiteDatabase(path: folder.database)
      do {
        _ = try await Identity.inspect(database, keys: ring)
        return (database, nil)
      } catch {
        await database.close()
        return (nil, Message("cli.previous-database-differs", ["reason": .text("\(error)")]))
      }
    } catch {
      return (
        nil, Message("cli.the-previous-database-cant-be-read", ["reason": .text(error.message)])
      )
    }
  }

  /// Prepares the copy for serving: migrates it, and ends sessions and codes from before the
  /// restore.
  private func prepare(
    _ stored: StoredInstance, _ former: ReadOnlySQLiteDatabase?, environment: [String: String]
  ) async throws -> RestoreReport {
    let draft = DataFolder(path: swap.draft)
    let ring = try folder.existingKey(environment: environment)
    guard let ring else { throw ConfigurationError(Message("cli.the-master-key-is-gone")) }
    let instance: Instance
    do {
      instance = try await Instance.open(
        draft, assets: .ofCommands, keys: ring, profile: stored.profile, creates: false,
        migrates: true, backup: .skip)
    } catch let error as StartError {
      throw ConfigurationError(error)
    }
    do {
      // Tokens have timestamps in whole seconds, so one issued in the last second before the stop
      // is older than now only once that second has passed.
      while WallClock.system.now().seconds <= stopped.seconds {
        try await Task.sleep(for: .milliseconds(50))
      }
      let report = try await instance.identity.endTheRestoredPast(
        file: (file.path as NSString).lastPathComponent, keepsSessions: keepsSessions,
        former: former, by: Author(actor: .commandLine))
      try await instance.database.checkpoint()
      await instance.database.close()
      return report
    } catch {
      await instance.database.close()
      throw error
    }
  }

  private func messages(
    _ stored: StoredInstance, _ report: RestoreReport, _ trouble: Message?
  ) -> [Message] {
    let since = Message.Value.message(
      stored.latest.map { .verbatim($0.rfc3339Milliseconds) } ?? Message("cli.it-was-created"))
    var messages = [
      Message(
        "cli.restored-users-as-of",
        ["file": .text(file.path), "count": .number(stored.users), "since": since])
    ]
    if folder.hasDatabaseFiles {
      let aside = Message.Value.text(swap.former(stamp: stopped.fileStamp))
      messages.append(
        FileManager.default.fileExists(atPath: folder.database)
          ? Message("cli.the-previous-database-is-in-delete", ["aside": aside])
          : Message("cli.the-rest-of-a-database-is-in-delete", ["aside": aside]))
    }
    messages.append(
      Message(
        "cli.ended-one-time-codes-up-to",
        ["ended": .sequence(report.summary), "now": .text(report.at.rfc3339Milliseconds)]))
    if keepsSessions {
      messages.append(Message("cli.sessions-were-kept-including-those-that"))
    }
    if report.isCompared {
      messages.append(Message("cli.repeat-removals-and-revocations", ["since": since]))
    } else {
      messages.append(
        Message(
          "cli.the-backup-doesnt-include-removals-or",
          [
            "since": since,
            "reason": .message(trouble ?? Message("cli.the-previous-database-cant-be-compared")),
          ]))
    }
    return messages
  }
}

extension RestoreReport {
  fileprivate var summary: [Message] {
    var parts: [Message] = []
    if let sessions { parts.append(Message("cli.user-sessions", ["count": .number(sessions)])) }
    if let consoleSessions {
      parts.append(Message("cli.administrator-sessions", ["count": .number(consoleSessions)]))
    }
    let rest = [
      (approvals, Message("cli.pending-approvals", ["count": .number(approvals)])),
      (bulkRemovals, Message("cli.bulk-removals", ["count": .number(bulkRemovals)])),
      (links, Message("cli.links-in-messages", ["count": .number(links)])),
      (messages, Message("cli.unsent-messages", ["count": .number(messages)])),
      (temporaryCodes, Message("cli.temporary-codes", ["count": .number(temporaryCodes)])),
      (invitations, Message("cli.invitations", ["count": .number(invitations)])),
      (recoveryCodes, Message("cli.recovery-codes", ["count": .number(recoveryCodes)])),
    ]
    return parts + rest.filter { $0.0 > 0 }.map(\.1)
  }
}
