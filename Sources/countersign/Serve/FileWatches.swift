import Database
import DatabaseSQLite
import Foundation
import Host
import Identity
import Localization

/// The tasks that watch files which others write: the certificate, backups, and the policy file.
struct FileWatches: Sendable {
  private let tasks: [Task<Void, Never>]

  init(_ parts: ServerParts) {
    let (configuration, identity, log) = (parts.configuration, parts.instance.identity, parts.log)
    var backups = configuration.backups
    backups?.say = { log.add(.backup($0)) }
    if configuration.ignoresBackups { log.add(.backup(Finding.backupsIgnored.message)) }
    let policies = configuration.policyFile.map { path in
      PolicyFileWatch(path: path, policies: identity.policies, say: { log.add($0) })
    }
    let watches = [parts.certificates?.repeated, backups?.repeated, policies?.repeated]
    tasks = watches.compactMap(\.self).map { watch in
      Task { await watch.run(identity.taskLease, identity.pacer, log) }
    }
  }

  func cancel() {
    for task in tasks { task.cancel() }
  }
}

/// Reads a policy file whenever it changes, so that the console shows which pools differ from it.
actor PolicyFileWatch {
  private let path: String
  private let policies: Policies
  private let say: @Sendable (LogEvent) -> Void
  /// The stamp of the file that was read last; nil if the last attempt failed.
  private var seen: FileStamp?
  private var complaint: String?

  init(
    path: String, policies: Policies,
    say: @escaping @Sendable (LogEvent) -> Void
  ) {
    self.path = path
    self.policies = policies
    self.say = say
  }

  nonisolated var repeated: RepeatedTask {
    RepeatedTask(nil, every: .seconds(2)) { await self.check() }
  }

  /// Reads the file unless it's the one that was read last.
  ///
  /// A file that can't be read is tried again each time, and reported once.
  func check() async {
    let stamp = FileStamp(of: path)
    if let stamp, stamp == seen { return }
    do throws(ConfigurationError) {
      let content = try content(stamp)
      (seen, complaint) = (stamp, nil)
      await compare(content)
    } catch {
      seen = nil
      policies.watch(nil)
      guard complaint != "\(error)" else { return }
      complaint = "\(error)"
      for problem in error.problems { say(.policyFileUnusable(problem)) }
    }
  }

  private func content(_ stamp: FileStamp?) throws(ConfigurationError) -> [UInt8] {
    // Reading a pipe would wait for a writer.
    guard stamp?.isRegular != false else {
      throw ConfigurationError(
        Message("{path} can't be read: it isn't a regular file.", ["path": .text(path)]))
    }
    return try PolicyFileReader.content(of: path)
  }

  private func compare(_ content: [UInt8]) async {
    do {
      let file: PolicyFile
      do {
        file = try PolicyFileReader.parse(content, of: path)
        policies.watch(file)
      } catch {
        policies.watch(nil)
        throw error
      }
      let drifts = try await policies.drift(from: file)
      say(
        .policyFile(
          Message(
            one: "Policy file {path}: {differing} of {count} policy differs from it.",
            other: "Policy file {path}: {differing} of {count} policies differ from it.",
            [
              "path": .text(path), "differing": .number(drifts.count),
              "count": .number(file.pools.count),
            ])))
    } catch let error as PolicyFileError {
      for message in error.messages(of: path) { say(.policyFileUnusable(message)) }
    } catch let error as ConfigurationError {
      for problem in error.problems { say(.policyFileUnusable(problem)) }
    } catch {
      say(.policyFileUnusable(.verbatim("\(error)")))
    }
  }
}

/// Warns when the newest backup is too old, at startup and then every hour.
struct BackupWatch: Sendable {
  let folder: BackupFolder
  /// The age in hours from which a backup is too old.
  let limit: Int
  /// When the instance was created: until the limit has passed, there needn't be a backup.
  var created = Instant(seconds: 0)
  var now: @Sendable () -> Instant = { WallClock.system.now() }
  var say: @Sendable (Message) -> Void = { Terminal.complain($0) }

  /// Backups are created daily, and one may take up to two hours.
  private static let standardLimit = 26

  static let options = [
    Option(
      "backups", "DIR",
      help: Message("Warn when the newest backup in this folder is older than --backup-age.")),
    Option(
      "backup-age", "HOURS",
      help: Message(
        "Maximum age of the newest backup, in hours (default: {hours}).",
        ["hours": .text("\(standardLimit)")])),
  ]

  init(folder: BackupFolder, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  init?(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    let hours = problems.number("backup-age", in: 1...8_760)
    guard let path = arguments.value("backups") else {
      if arguments.has("backup-age") {
        problems.append(Message("--backup-age requires --backups."), of: "backup-age")
      }
      return nil
    }
    self.init(folder: BackupFolder(path: path), limit: hours ?? Self.standardLimit)
  }

  /// Returns the time from which the newest backup is too old, or missing if there's none.
  func due(after newest: Instant?) -> Instant {
    (newest ?? created).advanced(bySeconds: Int64(limit) * 3_600)
  }

  func check() {
    let (now, newest) = (now(), folder.newest(at: now()))
    guard now >= due(after: newest) else { return }
    guard let newest else {
      say(
        Message(
          """
          There's no backup in {folder}. Check countersign-backup.timer, or whatever creates your \
          backups.
          """, ["folder": .text(folder.path)]))
      return
    }
    let age = Int((now.seconds - newest.seconds) / 3_600)
    say(
      Message(
        one: """
          The newest backup in {folder} is {count} hour old. Check countersign-backup.timer, or \
          whatever creates your backups.
          """,
        other: """
          The newest backup in {folder} is {count} hours old. Check countersign-backup.timer, or \
          whatever creates your backups.
          """, ["folder": .text(folder.path), "count": .number(age)]))
  }

  var repeated: RepeatedTask { RepeatedTask(nil, every: .seconds(3_600)) { check() } }
}

/// Checks the database file for corruption about once a day, in a quiet moment; a server's database
/// is checked by its operators.
actor IntegrityWatch {
  private let identity: Identity
  private let database: SQLiteDatabase?
  private let log: Log
  /// The number of writes at the last look.
  private var writes: Int
  private var abandoned: Instant?

  /// The number of writes between two looks up to which the server is quiet.
  private static let fewWrites = 600
  /// The time after which a check is abandoned.
  private static let limit = Duration.seconds(1_800)

  init(_ instance: Instance, log: Log) {
    (identity, self.log) = (instance.identity, log)
    database = instance.database as? SQLiteDatabase
    writes = database?.statistics.writes ?? 0
  }

  func look() async throws {
    guard let database else { return }
    let last = writes
    writes = database.statistics.writes
    let isQuiet = writes - last <= Self.fewWrites
    guard try await identity.integrityChecks.isDue(isQuiet: isQuiet, abandoned: abandoned),
      try await !check(database)
    else { return }
    abandoned = identity.clock.now()
  }

  /// Reports the first statement that finds the file damaged, long before the next check does.
  func reportDamage() async {
    guard let database else { return }
    for await error in database.damages { log.add(.databaseDamaged([error.message])) }
  }

  /// Checks the file, and returns whether the check was completed.
  private func check(_ database: SQLiteDatabase) async throws -> Bool {
    let faults = try await database.quickCheck(
      most: IntegrityChecks.mostFaults, limit: Self.limit)
    guard let faults else {
      // The server may just be stopping.
      if !Task.isCancelled { log.add(.integrityCheckTooLong) }
      return false
    }
    if !faults.isEmpty {
      log.add(.databaseDamaged(faults))
    }
    try await identity.integrityChecks.record(faults)
    return true
  }
}
