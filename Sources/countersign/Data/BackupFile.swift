import Crypto
import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization

struct BackupFile: Sendable {
  let path: String

  private var resolved: String { DataFolder.resolved(path) }

  /// Checks that the file exists and has no write-ahead log next to it, which a backup never has.
  ///
  /// The log of a database that a link leads to is next to the database.
  func mustBeBackup() throws(ConfigurationError) {
    let files = FileManager.default
    let kind = (try? files.attributesOfItem(atPath: resolved))?[.type] as? FileAttributeType
    guard let kind else {
      throw ConfigurationError(Message("The file {path} doesn't exist.", ["path": .text(path)]))
    }
    guard kind == .typeRegular else {
      throw ConfigurationError(
        Message("{path} isn't a regular file, so it isn't a backup.", ["path": .text(path)]))
    }
    for file in [path, resolved] {
      let log = (try? files.attributesOfItem(atPath: "\(file)-wal")[.size]) as? NSNumber
      guard log?.intValue ?? 0 == 0 else {
        throw ConfigurationError(
          Message(
            """
            {path} has a write-ahead log ({path}-wal), so it's a database in use, not a backup, and \
            some of its changes are only in the log. Copy it with countersign backup instead.
            """, ["path": .text(file)]))
      }
    }
  }

  /// Checks the integrity, version, and key of the backup, without changing it.
  ///
  /// `name` is the path to name in errors; nil for that of this file.
  func inspect(
    _ keys: KeyRing, as name: String? = nil
  ) async throws(ConfigurationError) -> StoredInstance {
    let shown = Message.Value.text(name ?? path)
    let database: ReadOnlySQLiteDatabase
    do { database = try ReadOnlySQLiteDatabase(path: path, ignoresLog: true) } catch {
      let reason: Message =
        error.code == .notADatabase ? BackupFault.notCountersign.message : .verbatim(error.message)
      throw ConfigurationError(
        Message("{path} can't be restored. {reason}", ["path": shown, "reason": .message(reason)]),
        isTemporary: error.isTemporary)
    }
    do throws(BackupFault) {
      let stored = try await Identity.inspect(database, keys: keys)
      await database.close()
      return stored
    } catch {
      await database.close()
      throw ConfigurationError(
        Message(
          "{path} can't be restored. {reason}", ["path": shown, "reason": .message(error.message)]))
    }
  }

  /// Copies the file to another path, with mode 600 and the owner of the folder there.
  func copy(to other: String) throws(ConfigurationError) {
    do {
      let files = FileManager.default
      try files.copyItem(atPath: resolved, toPath: other)
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
      try FolderOwner.adopt(path: other)
    } catch {
      throw ConfigurationError(
        Message(
          "{path} can't be copied to {other}: {reason}",
          [
            "path": .text(path), "other": .text(other),
            "reason": .text(OperatorText.reason(of: error)),
          ]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
  }
}
