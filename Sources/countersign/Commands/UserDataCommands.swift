import Foundation
import Identity
import Localization

private enum UserDataCommand {
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("cli.help-the-users-project")),
      Option("tenant", "T", variable: false, help: Message("cli.help-the-users-tenant")),
      Option("uid", "UID", variable: false, help: Message("cli.help-the-users-uid")),
    ]

  static func explaining<T>(_ body: () async throws -> T) async throws -> T {
    do { return try await body() } catch ActionDenial.accountNotFound {
      throw ConfigurationError(Message("cli.nothing-is-stored-about-the-user"))
    }
  }
}

/// Exports everything that's stored about a user to a file, even while the server runs.
enum UserExportCommand: Command {
  static let name = "user export"
  static let summary = Message("cli.summary-exports-a-users-data")
  static let operands = "FILE"
  static let options = UserDataCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let uid = try arguments.required("uid")
    let path = try arguments.fileToCreate()
    return try await Instance.use(arguments) { instance in
      let scope = try await instance.scope(project, tenant: arguments.value("tenant"))
      let file = try PrivateFile(path)
      let bytes = try await UserDataCommand.explaining {
        try await instance.identity.userData.export(
          scope, ID(uid), by: Author(actor: .commandLine))
      }
      try file.write(bytes)
      try file.finish()
      Terminal.say(Message("cli.exported-user-data", ["path": .text(path)]))
      return 0
    }
  }
}

/// Erases everything that's stored about a user, even while the server runs.
enum UserEraseCommand: Command {
  static let name = "user erase"
  static let summary = Message("cli.summary-erases-a-users-data")
  static let options =
    UserDataCommand.options + [
      Option("reason", "TEXT", variable: false, help: Message("cli.help-reason-of-erasure")),
      Option("confirm", "UID", variable: false, help: Message("cli.help-confirm-erasure")),
    ]

  /// How long a server may take until it has erased the audit log.
  private static let patience = Duration.seconds(60)

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let uid = try arguments.required("uid")
    guard let reason = try arguments.reason() else {
      throw UsageError(Message("cli.option-is-required", ["name": .text("reason")]))
    }
    guard arguments.value("confirm") == uid else {
      throw UsageError(Message("cli.erasure-cant-be-undone", ["uid": .text(uid)]))
    }
    let folder = try DataFolder(arguments)
    return try await Instance.use(arguments) { instance in
      let scope = try await instance.scope(project, tenant: arguments.value("tenant"))
      let erasure = try await UserDataCommand.explaining {
        try await instance.identity.userData.erase(
          scope, ID(uid), reason: reason, by: Author(actor: .commandLine))
      }
      let progress = try await finish(erasure.number, in: scope, instance.identity, folder)
      guard progress.isFinished else {
        Terminal.complain(
          Message("cli.erasure-continues", ["number": .text(String(erasure.number))]))
        return 1
      }
      Terminal.say(
        Message(
          "cli.erased-user-data",
          ["number": .text(String(erasure.number)), "count": .number(progress.entries)]))
      return 0
    }
  }

  /// Waits until the audit log is erased, which is the server's task if one runs.
  private static func finish(
    _ number: Int64, in scope: Scope, _ identity: Identity, _ folder: DataFolder
  ) async throws -> UserData.Progress {
    let end = ContinuousClock.now + patience
    while true {
      // Held meanwhile, so that no server starts.
      let server = try folder.lockIfFree()
      if server != nil {
        while try await identity.auditChain.seal() {}
        while try await identity.userData.continueErasures() {}
      }
      server?.release()
      guard let progress = try await identity.userData.progress(of: number, in: scope) else {
        throw ConfigurationError(Message("cli.nothing-is-stored-about-the-user"))
      }
      if progress.isFinished || ContinuousClock.now > end { return progress }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}
