import Database
import Foundation
import Identity
import Localization

enum MigrateCommand: Command {
  static let name = "migrate"
  static let summary = Message(
    "migrates the database of a stopped server to this version, after creating a backup")
  static let options = [
    ConfigurationFile.option, Instance.dataOption, DatabaseLocation.url,
    DatabaseLocation.passwordFile,
    Option(
      "dry-run", variable: false,
      help: Message(
        """
        Print the migrations that would run, with estimates of time and space; the server can \
        keep running.
        """)),
    UpgradeBackup.option,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    if let error = arguments.fileError { throw error }
    let folder = try DataFolder(arguments)
    if arguments.has("dry-run") { return try await explain(folder) }
    try folder.mustExistAsFolder()
    let server = try folder.lock()
    let keys = try folder.lockKeys()
    defer {
      keys.release()
      server.release()
    }
    if !folder.isOnServer {
      try folder.finishCreation(holding: server)
      try folder.finishRestore(holding: server)
    }
    let before = try await plan(folder)
    let instance = try await Instance.existing(
      folder, migrates: true,
      backup: arguments.has(UpgradeBackup.option.name) ? .skip : .create)
    await instance.database.close()
    Terminal.say(
      Message(
        one: "Applied {count} migration.", other: "Applied {count} migrations.",
        ["count": .number(before.steps.count)]))
    return 0
  }

  private static func explain(_ folder: DataFolder) async throws -> Int32 {
    let plan = try await plan(folder)
    for step in plan.steps {
      Terminal.say(
        Message(
          "{name}\t{size}\t{tables}",
          [
            "name": .text(step.name), "size": .text(Size.text(step.bytes)),
            "tables": .text(step.tables.joined(separator: ", ")),
          ]))
    }
    for setting in plan.dropped { Terminal.say(.dropped(setting)) }
    guard !plan.steps.isEmpty else {
      Terminal.say(Message("The schema is current."))
      return 0
    }
    Terminal.say(
      Message(
        one: """
          {count} migration, up to {seconds} s on a slow disk. A backup needs {backup}, and the \
          migration up to {extra}. {free} is free. Nothing was changed.
          """,
        other: """
          {count} migrations, up to {seconds} s on a slow disk. A backup needs {backup}, and the \
          migrations up to {extra}. {free} is free. Nothing was changed.
          """,
        [
          "count": .number(plan.steps.count), "seconds": .number(plan.seconds),
          "backup": .text(Size.text(plan.databaseBytes)),
          "extra": .text(Size.text(plan.extraBytes)),
          "free": .text(folder.freeSpace.map(Size.free) ?? "?"),
        ]))
    return 0
  }

  private static func plan(_ folder: DataFolder) async throws -> MigrationPlan {
    try folder.mustHoldInstance()
    let database = try await folder.openForReading()
    do { return try await database.closing { try await MigrationPlan.estimate(database) } } catch {
      throw ConfigurationError.starting(error)
    }
  }
}
