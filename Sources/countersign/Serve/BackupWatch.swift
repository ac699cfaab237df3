import Identity
import Localization

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

  /// Checks the newest backup every hour until the task is canceled.
  func run() async {
    repeat { check() } while (try? await Task.sleep(for: .seconds(3_600))) != nil
  }
}
