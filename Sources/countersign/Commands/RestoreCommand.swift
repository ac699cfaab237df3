import Crypto
import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization

enum RestoreCommand: Command {
  static let name = "restore"
  static let summary = Message("restores the database from a backup; the server must be stopped")
  static let operands = "FILE"
  static let options =
    Instance.options + [
      Option(
        "keep-sessions", variable: false,
        help: Message(
          """
          Keep users and administrators signed in. Sessions that were ended after the backup are \
          valid again, which is recorded in the audit log.
          """))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = BackupFile(path: try arguments.operand(Message("the backup to restore")))
    try DatabaseLocation.mustBeFile(arguments, command: name)
    let folder = DataFolder(path: try arguments.required("data"))
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ConfigurationError(
        Message(
          """
          The data folder {folder} doesn't exist. Create it and put your copy of master.key \
          there.
          """, ["folder": .text(folder.path)]))
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
          """
          There's no master.key in {folder}. Put the copy from the time of the backup there first \
          (mode 600): without it, the second factors in {file} can't be read.
          """,
          ["folder": .text(folder.path), "file": .text(file.path)]))
    }
    let restore = Restore(
      file: file, folder: folder, swap: DatabaseSwap(data: folder.path),
      stopped: WallClock.system.now(), keepsSessions: arguments.has("keep-sessions"))
    try await restore.run(ring, environment: environment)
    return 0
  }
}

extension RestoreCommand {
  /// Tokens have timestamps in whole seconds, so one issued in the last second before the stop is older
  /// than now only once that second has passed.
  static func waitForNextSecond(after stopped: Instant) async throws {
    while WallClock.system.now().seconds <= stopped.seconds {
      try await Task.sleep(for: .milliseconds(50))
    }
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
          "The backup couldn't be restored: {reason}",
          ["reason": .text(OperatorText.reason(of: error))]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
  }

  /// Opens the database being replaced, when it can be read and was encrypted with the same key;
  /// otherwise returns the reason.
  private func openFormer(_ ring: KeyRing) async -> (ReadOnlySQLiteDatabase?, Message?) {
    guard FileManager.default.fileExists(atPath: folder.database) else {
      return (
        nil, Message("There's no previous database in {folder}.", ["folder": .text(folder.path)])
      )
    }
    do {
      let database = try ReadOnlySQLiteDatabase(path: folder.database)
      do {
        _ = try await Identity.inspect(database, keys: ring)
        return (database, nil)
      } catch {
        await database.close()
        return (
          nil,
          Message(
            "The previous database can't be compared. {reason}", ["reason": .text("\(error)")])
        )
      }
    } catch {
      return (
        nil,
        Message("The previous database can't be read ({reason}).", ["reason": .text(error.message)])
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
    guard let ring else { throw ConfigurationError(Message("The master key is missing.")) }
    let instance: Instance
    do {
      instance = try await Instance.open(
        draft, assets: .ofCommands, keys: ring, profile: stored.profile, backup: .skip,
        environment: environment)
    } catch {
      throw ConfigurationError.starting(error)
    }
    return try await instance.database.closing {
      try await RestoreCommand.waitForNextSecond(after: stopped)
      let report = try await instance.identity.endTheRestoredPast(
        file: (file.path as NSString).lastPathComponent, keepsSessions: keepsSessions,
        former: former, by: Author(actor: .commandLine))
      try await instance.database.checkpoint()
      return report
    }
  }

  private func messages(
    _ stored: StoredInstance, _ report: RestoreReport, _ trouble: Message?
  ) -> [Message] {
    let latest = stored.latest.map { .verbatim($0.rfc3339Milliseconds) } ?? Message("none")
    var messages = [
      Message(
        one: "Restored {file}: {count} user. Last change: {latest}.",
        other: "Restored {file}: {count} users. Last change: {latest}.",
        [
          "file": .text(file.path), "count": .number(stored.users), "latest": .message(latest),
        ])
    ]
    if folder.hasDatabaseFiles {
      let aside = Message.Value.text(swap.former(stamp: stopped.fileStamp))
      messages.append(
        FileManager.default.fileExists(atPath: folder.database)
          ? Message(
            "The previous database is in {aside}. Delete it when you no longer need it.",
            ["aside": aside])
          : Message(
            """
            The -wal and -shm files of a missing database are in {aside}. Delete them when you no \
            longer need them.
            """, ["aside": aside]))
    }
    messages.append(report.message)
    if keepsSessions {
      messages.append(
        Message("Sessions were kept, including those that were ended after the backup."))
    }
    if report.isCompared {
      messages.append(
        Message(
          """
          The backup doesn't include removals or revocations after its last change. Repeat those \
          you know of: removed factors and users, revoked tokens, keys, and roles, changed \
          passwords.
          """))
    } else {
      messages.append(
        Message(
          """
          The backup doesn't include removals or revocations after its last change. {reason} \
          Repeat those you know of: removed factors and users, revoked tokens, keys, and roles, \
          changed passwords, used recovery codes.
          """,
          ["reason": .message(trouble ?? Message("The previous database can't be compared."))]))
    }
    return messages
  }
}

extension RestoreReport {
  var message: Message {
    Message(
      """
      Ended: {ended}. One-time codes up to now are marked as used; the system clock shows {now}.
      """,
      ["ended": .sequence(summary), "now": .text(at.rfc3339Milliseconds)])
  }

  private var summary: [Message] {
    var parts: [Message] = []
    if let sessions {
      parts.append(
        Message(
          one: "{count} user session",
          other: "{count} user sessions", ["count": .number(sessions)]))
    }
    if let consoleSessions {
      parts.append(
        Message(
          one: "{count} administrator session",
          other: "{count} administrator sessions", ["count": .number(consoleSessions)]))
    }
    let rest = [
      (
        approvals,
        Message(
          one: "{count} pending approval", other: "{count} pending approvals",
          ["count": .number(approvals)])
      ),
      (
        bulkRemovals,
        Message(
          one: "{count} bulk removal", other: "{count} bulk removals",
          ["count": .number(bulkRemovals)])
      ),
      (
        links,
        Message(
          one: "{count} link or code in a message",
          other: "{count} links and codes in messages", ["count": .number(links)])
      ),
      (
        messages,
        Message(
          one: "{count} unsent message with a link or code",
          other: "{count} unsent messages with links or codes", ["count": .number(messages)])
      ),
      (
        temporaryCodes,
        Message(
          one: "{count} temporary code", other: "{count} temporary codes",
          ["count": .number(temporaryCodes)])
      ),
      (
        invitations,
        Message(
          one: "{count} invitation", other: "{count} invitations", ["count": .number(invitations)])
      ),
      (
        recoveryCodes,
        Message(
          one: "{count} used recovery code",
          other: "{count} used recovery codes", ["count": .number(recoveryCodes)])
      ),
    ]
    return parts + rest.filter { $0.0 > 0 }.map(\.1)
  }
}
