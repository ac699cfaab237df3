import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity

/// A backup, as `countersign backup` makes it.
struct BackupFile: Sendable {
  let path: String

  /// Where the file is, behind a symbolic link.
  private var resolved: String { URL(filePath: path).resolvingSymlinksInPath().path }

  /// Checks that it's there and that no log lies beside it, which a backup never has.
  func mustBeBackup() throws(ConfigurationError) {
    let files = FileManager.default
    let kind = (try? files.attributesOfItem(atPath: resolved))?[.type] as? FileAttributeType
    guard kind == .typeRegular else {
      throw ConfigurationError("There is no file \(path).")
    }
    let log = (try? files.attributesOfItem(atPath: "\(path)-wal")[.size]) as? NSNumber
    guard log?.intValue ?? 0 == 0 else {
      throw ConfigurationError(
        "Beside \(path) lies its log (\(path)-wal): it's a database in use and not a backup, and "
          + "some of its changes are in the log alone. Make a copy with countersign backup.")
    }
  }

  /// Checks its integrity, its version and its key; nothing is changed.
  func inspect(_ keys: KeyRing) async throws(ConfigurationError) -> StoredInstance {
    let database: ReadOnlySQLiteDatabase
    do { database = try ReadOnlySQLiteDatabase(path: path, ignoresLog: true) } catch {
      throw ConfigurationError("\(path) can't be restored. \(error.message)")
    }
    do throws(BackupFault) {
      let stored = try await Identity.inspect(database, keys: keys)
      await database.close()
      return stored
    } catch {
      await database.close()
      throw ConfigurationError("\(path) can't be restored. \(error.description)")
    }
  }

  /// Copies the file to another, for the owner of the folder alone.
  func copy(to other: String) throws(ConfigurationError) {
    do {
      let files = FileManager.default
      try files.copyItem(atPath: resolved, toPath: other)
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
    } catch {
      throw ConfigurationError("\(path) can't be copied to \(other): \(error.localizedDescription)")
    }
  }
}
