import Crypto
import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization

/// A folder of backups that are named by the time they were created.
struct BackupFolder: Sendable {
  let path: String

  private static let (prefix, suffix) = ("countersign-", ".sqlite")
  private static let unverifiedSuffix = ".unverified"

  var exists: Bool { DataFolder.isFolder(path) }

  /// Whether it has a master key, with which anyone could read the backups.
  var hasKey: Bool { FileManager.default.fileExists(atPath: "\(path)/master.key") }

  func mustHaveNoKey() throws(ConfigurationError) {
    guard hasKey else { return }
    throw ConfigurationError(
      Message(
        """
        {folder} has a master.key. Anyone who gets a backup and the key can read all second \
        factors: keep backups in another folder.
        """, ["folder": .text(path)]))
  }

  func file(at time: Instant) -> String {
    "\(path)/\(Self.prefix)\(time.fileStamp)\(Self.suffix)"
  }

  /// Returns the path of a backup that's created now.
  ///
  /// If another one was or is being created in this second, it waits for the next.
  func newFile(_ clock: WallClock = .system) async throws -> String {
    while true {
      let file = file(at: clock.now())
      let names = [file, file + PartialFile.suffix]
      guard names.contains(where: FileManager.default.fileExists) else { return file }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Returns when the newest backup was created; nil when there's none.
  ///
  /// A backup whose time is in the future was created while the clock was ahead, and isn't counted.
  func newest(at now: Instant = WallClock.system.now()) -> Instant? {
    times(at: now).last
  }

  /// Deletes the oldest backups, and no other files, and returns their paths: those whose time is
  /// in the future are neither counted nor deleted.
  func deleteAllBut(
    newest count: Int, at now: Instant = WallClock.system.now()
  ) throws(ConfigurationError) -> [String] {
    var deleted: [String] = []
    for time in times(at: now).dropLast(count) {
      let file = file(at: time)
      do { try FileManager.default.removeItem(atPath: file) } catch {
        throw ConfigurationError(
          Message(
            "The backup {file} can't be deleted: {reason}",
            ["file": .text(file), "reason": .text(OperatorText.reason(of: error))]))
      }
      deleted.append(file)
    }
    return deleted
  }

  /// Deletes what interrupted backups left: they're whole copies of the database.
  func deleteInterrupted() {
    InterruptedFiles.delete(in: path, prefix: Self.prefix)
  }

  /// Names a copy that couldn't be verified after the backup it would have become, and deletes
  /// older ones in the folder: a backup that fails each night would fill the disk.
  static func keepUnverified(_ draft: String, of file: String) {
    let unverified = file + unverifiedSuffix
    do { try FileManager.default.moveItem(atPath: draft, toPath: unverified) } catch { return }
    let folder = BackupFolder(path: (file as NSString).deletingLastPathComponent)
    guard let time = time(of: (file as NSString).lastPathComponent) else { return }
    for other in folder.unverified {
      let name = (other as NSString).lastPathComponent.dropLast(unverifiedSuffix.count)
      guard let older = Self.time(of: String(name)), older < time else { continue }
      try? FileManager.default.removeItem(atPath: other)
    }
  }

  /// The copies in the folder that couldn't be verified, sorted.
  var unverified: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(Self.unverifiedSuffix) }.sorted().map { "\(path)/\($0)" }
  }

  private static func time(of name: String) -> Instant? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    return Instant(fileStamp: name.dropFirst(prefix.count).dropLast(suffix.count))
  }

  /// The times of all backups that aren't in the future, oldest first.
  ///
  /// An empty file isn't one.
  private func times(at now: Instant) -> [Instant] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.compactMap { name in
      guard let time = Self.time(of: name) else { return nil }
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: DataFolder.resolved("\(path)/\(name)"))
      guard let size = attributes?[.size] as? NSNumber, size.intValue > 0 else { return nil }
      return time
    }.filter { !$0.isInFuture(at: now) }.sorted()
  }
}

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
      return try await database.closing { () async throws(BackupFault) in
        try await Identity.inspect(database, keys: keys)
      }
    } catch {
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

extension Instant {
  private static let fileStampStyle = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)

  /// The time for a file name, in whole seconds, such as `20261121T060102Z`.
  var fileStamp: String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(Self.fileStampStyle)
  }

  init?(fileStamp text: some StringProtocol) {
    guard let date = try? Date(String(text), strategy: Self.fileStampStyle) else { return nil }
    self.init(seconds: Int64(date.timeIntervalSince1970))
    guard fileStamp == text else { return nil }
  }
}
