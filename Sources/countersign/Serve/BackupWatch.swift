import Identity
import Localization

/// Warns when the newest backup is too old, at startup and then every hour.
struct BackupWatch: Sendable {
  let folder: BackupFolder
  /// The age in hours from which a backup is too old.
  let limit: Int
  var now: @Sendable () -> Instant = { WallClock.system.now() }
  var say: @Sendable (Message) -> Void = { Terminal.complain($0) }

  /// Backups are created daily, and one may take up to two hours.
  private static let standardLimit = 26

  static let options = [
    Option(
      "backups", "DIR", help: Message("cli.help-warn-when-the-newest-backup")),
    Option(
      "backup-age", "HOURS",
      help: Message("cli.help-age-of-a-backup", ["hours": .text("\(standardLimit)")])),
  ]

  init(folder: BackupFolder, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  init?(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    let hours = problems.number("backup-age", in: 1...8_760)
    guard let path = arguments.value("backups") else {
      if arguments.has("backup-age") {
        problems.append(Message("cli.backup-age-requires-backups"), of: "backup-age")
      }
      return nil
    }
    self.init(folder: BackupFolder(path: path), limit: hours ?? Self.standardLimit)
  }

  /// Checks the newest backup now.
  func check() {
    guard let newest = folder.newest(at: now()) else {
      say(Message("cli.there-is-no-backup", ["folder": .text(folder.path)]))
      return
    }
    let age = Int((now().seconds - newest.seconds) / 3_600)
    guard age >= limit else { return }
    say(
      Message(
        "cli.the-newest-backup-is-old", ["folder": .text(folder.path), "count": .number(age)]))
  }

  /// Checks the newest backup every hour until the task is canceled.
  func run() async {
    repeat { check() } while (try? await Task.sleep(for: .seconds(3_600))) != nil
  }
}
