import Crypto
import Database
import DatabaseSQLite
import Foundation
import Identity
import Localization

/// The backup that is created before an upgrade migrates a database.
struct UpgradeBackup: Sendable {
  /// Whether a backup is created.
  enum Choice: Sendable { case create, skip }

  static let prefix = "before-upgrade-"

  static let option = Option(
    "skip-upgrade-backup", help: Message("cli.help-migrate-without-creating-a-backup"))

  let folder: DataFolder

  /// Creates the backup if migrations are pending and there's enough space for it and them.
  ///
  /// - Throws: ``ConfigurationError``, in which case nothing has changed.
  func create(_ instance: Identity, _ database: SQLiteDatabase) async throws {
    let pending = try await instance.pendingMigrations()
    guard !pending.isEmpty, pending.count < Identity.migrations(for: database.dialect).count else {
      return
    }
    // First, since they take as much space as the new backup.
    InterruptedBackups.delete(in: folder.path, prefix: Self.prefix)
    let plan = try await MigrationPlan.estimate(database)
    try checkSpace(plan)
    let file = "\(folder.path)/\(Self.prefix)\(WallClock.system.now().fileStamp).sqlite"
    do { try await database.backup(to: file) } catch {
      throw ConfigurationError(
        Message("cli.the-upgrade-backup-couldnt-be-created", ["reason": .text("\(error)")]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
    Terminal.complain(Message("cli.created-the-upgrade-backup", ["file": .text(file)]))
  }

  /// The files of earlier upgrades, oldest first.
  var files: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(".sqlite") }.sorted()
      .map { "\(folder.path)/\($0)" }
  }

  private func checkSpace(_ plan: MigrationPlan) throws(ConfigurationError) {
    let needed = plan.databaseBytes + plan.extraBytes + Readiness.leastSpace
    guard let free = folder.freeSpace, free < needed else { return }
    throw ConfigurationError.temporary(
      Message(
        "cli.not-enough-space-for-the-upgrade",
        [
          "needed": .text(Size.text(needed)), "free": .text(Size.text(free)),
          "path": .text(folder.path), "option": .text(Self.option.name),
        ]))
  }
}

/// Reports migrations as they run.
enum MigrationProgress {
  static func say(_ name: String, _ number: Int, _ count: Int) {
    Terminal.complain(
      Message(
        "cli.migration-number-of",
        ["number": .number(number), "total": .number(count), "name": .text(name)]))
  }
}

/// Sizes as text for operators.
enum Size {
  /// Returns a number of bytes in the largest unit that has a whole number of it, rounded up.
  static func text(_ bytes: Int) -> String {
    let mebibytes = (bytes + (1 << 20) - 1) >> 20
    return mebibytes < 10_240 ? "\(mebibytes) MiB" : "\((mebibytes + 1023) >> 10) GiB"
  }
}

extension DataFolder {
  /// The free space of its file system, in bytes; nil if the system doesn't tell.
  var freeSpace: Int? {
    let space = try? FileManager.default.attributesOfFileSystem(forPath: path)
    return (space?[.systemFreeSize] as? NSNumber)?.intValue
  }
}
