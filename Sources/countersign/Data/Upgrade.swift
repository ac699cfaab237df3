import Database
import DatabaseSQLite
import Foundation
import Identity
import Localization
import MailText

struct UpgradeBackup: Sendable {
  enum Choice: Sendable { case create, skip }

  static let prefix = "before-upgrade-"

  static let option = Option(
    "skip-upgrade-backup", help: Message("Migrate the database without creating a backup first."))

  let folder: DataFolder

  /// Creates the backup if migrations are pending and there's enough space for it and them.
  ///
  /// An upgrade that was interrupted continues with the backup that it has: another one would be a
  /// copy of a half-migrated database, and each restart would create one.
  ///
  /// - Throws: ``ConfigurationError``, in which case nothing has changed.
  func create(
    _ instance: Identity, _ database: SQLiteDatabase, say: (Message) -> Void
  ) async throws {
    let pending = try await instance.pendingMigrations()
    guard let first = pending.first,
      first != Identity.migrations(for: database.dialect).baseline.name
    else { return }
    // First, since they take as much space as the new backup.
    InterruptedFiles.delete(in: folder.path, prefix: Self.prefix)
    let plan = try await MigrationPlan.estimate(database)
    if let file = try await earlier(database, pending) {
      try checkSpace(plan.extraBytes)
      say(
        Message(
          """
          Continuing an interrupted upgrade, whose backup is {file}. To undo the upgrade, restore \
          it with the previous version.
          """, ["file": .text(file)]))
      return
    }
    try checkSpace(plan.databaseBytes + plan.extraBytes)
    let file = freeFile(at: WallClock.system.now())
    do { try await database.backup(to: file) } catch {
      throw ConfigurationError(
        Message(
          "The backup before the upgrade couldn't be created: {reason} Nothing was changed.",
          ["reason": .text("\(error)")]),
        isTemporary: ConfigurationError.isTemporary(error))
    }
    say(
      Message(
        "Created the backup {file}. To undo the upgrade, restore it with the previous version.",
        ["file": .text(file)]))
  }

  /// Returns the backup that an interrupted upgrade created; nil for none.
  ///
  /// Its data is that of the database: a server that had used the database since would have stored
  /// a later time. A backup has its name only once it's complete.
  private func earlier(_ database: SQLiteDatabase, _ pending: [String]) async throws -> String? {
    guard let file = files.last,
      let backup = try? ReadOnlySQLiteDatabase(path: file, ignoresLog: true)
    else { return nil }
    let time = try? await Identity.latestTime(backup)
    let missing = try? await Identity.pendingMigrations(of: backup)
    await backup.close()
    guard let time, try await Identity.latestTime(database) == time,
      missing?.suffix(pending.count) == pending[...]
    else { return nil }
    return file
  }

  /// A name that no file has yet: two upgrades may start within a second.
  ///
  /// An underscore sorts after the period, so names remain in the order of time.
  func freeFile(at time: Instant) -> String {
    let name = "\(folder.path)/\(Self.prefix)\(time.fileStamp)"
    var file = "\(name).sqlite"
    var number = 1
    while files.contains(file) {
      number += 1
      file = "\(name)_\(number).sqlite"
    }
    return file
  }

  var files: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(".sqlite") }.sorted()
      .map { "\(folder.path)/\($0)" }
  }

  private func checkSpace(_ bytes: Int) throws(ConfigurationError) {
    guard let shortage = DiskShortage(of: bytes, in: folder.path) else { return }
    throw ConfigurationError.temporary(
      Message(
        """
        The upgrade and the backup before it need {needed} in {path}, but {free} is free. Nothing \
        was changed. Free some space, or create a backup elsewhere with the previous version and \
        add --{option}.
        """,
        [
          "needed": .text(Size.text(shortage.needed)), "free": .text(Size.free(shortage.free)),
          "path": .text(folder.path), "option": .text(Self.option.name),
        ]))
  }
}

enum MigrationProgress {
  static func message(_ name: String, _ number: Int, _ count: Int) -> Message {
    Message(
      "Migration {number} of {total}: {name}",
      ["number": .number(number), "total": .number(count), "name": .text(name)])
  }
}

enum Size {
  /// Returns a number of bytes in the largest unit that has a whole number of it, rounded up.
  static func text(_ bytes: Int) -> String {
    let mebibytes = (bytes + (1 << 20) - 1) >> 20
    return mebibytes < 10_240 ? "\(mebibytes) MiB" : "\((mebibytes + 1023) >> 10) GiB"
  }

  /// Returns a free space in the same units, rounded down, so that it's less than what is needed.
  static func free(_ bytes: Int) -> String {
    let mebibytes = bytes >> 20
    return mebibytes < 10_240 ? "\(mebibytes) MiB" : "\(mebibytes >> 10) GiB"
  }
}

/// Less free space than what is to be written and a server next to it need.
struct DiskShortage: Sendable {
  /// The space needed, with that of a ready server (``Readiness/leastSpace``), in bytes.
  let needed: Int
  /// The free space, in bytes.
  let free: Int

  /// Compares the space with that of a folder's file system; nil if there's enough of it, or if the
  /// system doesn't tell.
  init?(of bytes: Int, in folder: String) {
    needed = bytes + Readiness.leastSpace
    guard let free = Self.freeSpace(folder), free < needed else { return nil }
    self.free = free
  }

  /// The free space of a folder's file system, in bytes; nil if the system doesn't tell.
  static func freeSpace(_ folder: String) -> Int? {
    let space = try? FileManager.default.attributesOfFileSystem(forPath: folder)
    // Some file systems in user space report no sizes.
    guard let size = (space?[.systemSize] as? NSNumber)?.intValue, size > 0 else { return nil }
    return (space?[.systemFreeSize] as? NSNumber)?.intValue
  }
}

extension DataFolder {
  var freeSpace: Int? { DiskShortage.freeSpace(path) }
}

extension DroppedSetting {
  /// What the setting is and what it contains, for the operator; never a secret or the text of a note.
  var message: Message {
    let (name, author) = (Message.Value.text(self.name), Message.Value.text(self.author))
    let pool = Message.Value.text(tenant.isEmpty ? project : "\(project)/\(tenant)")
    let day = Message.Value.text(String(at?.rfc3339Milliseconds.prefix(10) ?? "?"))
    let policy = Message.Value.message(self.policy?.message ?? .verbatim(""))
    return switch kind {
    case .scheduledChange:
      Message(
        "Policy change of {pool} scheduled for {day} by {author}: {policy}",
        ["pool": pool, "day": day, "author": author, "policy": policy])
    case .approval:
      Message(
        """
        Waiting approval of a policy change of {pool} for {day}, requested by {author}: {policy}
        """, ["pool": pool, "day": day, "author": author, "policy": policy])
    case .policyTemplate:
      Message(
        "Policy template {name} of {pool}: {policy}",
        ["pool": pool, "name": name, "policy": policy])
    case .eventStream:
      Message(
        "Event stream {name} to {target}, added by {author}",
        ["name": name, "target": .text(detail), "author": author])
    case .reportSubscription:
      project.isEmpty
        ? Message(
          "Subscription of {author} to the report {report} of the instance, {rhythm}",
          ["author": author, "report": name, "rhythm": .text(detail)])
        : Message(
          "Subscription of {author} to the report {report} of {pool}, {rhythm}",
          ["author": author, "report": name, "pool": pool, "rhythm": .text(detail)])
    case .groupedRemoval:
      Message(
        """
        Removal across pools of {day} by {author}; the bulk removal of each pool stays
        """, ["day": day, "author": author])
    case .bouncedAddress:
      Message(
        "Mark by {author} of an address that bounces, of the user {user} of {pool}",
        ["author": author, "user": name, "pool": pool])
    case .note:
      Message(
        "Note of {day} by {author} about the user {user} of {pool}",
        ["day": day, "author": author, "user": name, "pool": pool])
    }
  }
}

extension PolicyEdit {
  fileprivate var message: Message {
    func value(_ field: PolicyChange.Field) -> Message.Value {
      .message(PolicyChange.value(field, self).message)
    }
    return Message(
      """
      TOTP: {totp}; adjacent intervals: {intervals}; SMS: {sms}; enrollment pattern: {pattern}; \
      server enforcement: {enforcement}
      """,
      [
        "totp": value(.totp), "intervals": value(.adjacentIntervals), "sms": value(.sms),
        "pattern": value(.pattern), "enforcement": value(.enforcement),
      ])
  }
}

extension Message {
  /// The line about a setting, before the migrations and in a dry run.
  static func dropped(_ setting: DroppedSetting) -> Message {
    Message("Dropped by the upgrade: {setting}.", ["setting": .message(setting.message)])
  }

  /// What to do about a database that lacks migrations.
  static func notMigrated(_ database: String, _ names: [String], _ folder: DataFolder) -> Message {
    Message(
      one: """
        {database} lacks {count} migration of this version. Stop the server, and run: countersign \
        migrate {options}
        """,
      other: """
        {database} lacks {count} migrations of this version. Stop the server, and run: \
        countersign migrate {options}
        """,
      [
        "database": .text(database), "count": .number(names.count),
        "options": .text(folder.options),
      ])
  }
}

extension DataFolder {
  var options: String {
    guard case .server(let address, _) = location else { return "--data \(path)" }
    return "--data \(path) --database '\(address)'"
  }
}
