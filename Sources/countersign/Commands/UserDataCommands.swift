import Foundation
import Identity
import Localization

private enum UserDataCommand {
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("The user's project.")),
      Option("tenant", "T", variable: false, help: Message("The user's tenant in the project.")),
      Option("uid", "UID", variable: false, help: Message("The user's UID.")),
    ]

  static func explaining<T>(_ body: () async throws -> T) async throws -> T {
    do { return try await body() } catch ActionDenial.accountNotFound {
      throw ConfigurationError(Message("Nothing is stored about a user with this UID."))
    }
  }
}

enum UserExportCommand: Command {
  static let name = "user export"
  static let summary = Message("exports everything that's stored about a user, without secrets")
  static let operands = "FILE"
  static let options = UserDataCommand.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let uid = try arguments.required("uid")
    let path = try arguments.fileToCreate()
    return try await Instance.use(arguments) { instance in
      let pool = try await instance.pool(
        project, tenant: arguments.value("tenant"), needs: .bookkeeping)
      let file = try PrivateFile(path)
      let bytes = try await UserDataCommand.explaining {
        try await instance.identity.userData.export(
          pool, ID(uid), by: .program(Author(actor: .commandLine))
        ).value
      }
      try file.write(bytes)
      try file.finish()
      Terminal.say(
        Message(
          """
          Exported the user's data to {path}. It names administrators, so check it before you send \
          it.
          """, ["path": .text(path)]))
      return 0
    }
  }
}

enum UserEraseCommand: Command {
  static let name = "user erase"
  static let summary = Message(
    "erases everything that's stored about a user, including a deleted one")
  static let options =
    UserDataCommand.options + [
      Option(
        "reason", "TEXT", variable: false,
        help: Message("Reason, saved to the audit log. Don't include the user's details.")),
      Option(
        "confirm", "UID", variable: false,
        help: Message("The UID again, since an erasure can't be undone.")),
    ]

  /// How long a server may take until it has erased the audit log.
  private static let patience = Duration.seconds(60)

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let uid = try arguments.required("uid")
    guard let reason = try arguments.reason() else {
      throw UsageError(Message("--{name} is required", ["name": .text("reason")]))
    }
    guard arguments.value("confirm") == uid else {
      throw UsageError(
        Message("an erasure can't be undone: confirm it with --confirm {uid}", ["uid": .text(uid)]))
    }
    let folder = try DataFolder(arguments)
    return try await Instance.use(arguments) { instance in
      let pool = try await instance.pool(
        project, tenant: arguments.value("tenant"), needs: .bookkeeping)
      let erasure = try await UserDataCommand.explaining {
        try await instance.identity.userData.erase(
          pool, ID(uid), by: .program(Author(actor: .commandLine), because: reason)
        ).value
      }
      let progress = try await finish(erasure.number, in: pool, instance.identity, folder)
      guard progress.isFinished else {
        Terminal.complain(
          Message(
            """
            Erasure {number}: the account is erased. The server erases the details in audit log \
            entries once they're sealed.
            """, ["number": .text(String(erasure.number))]))
        return 1
      }
      Terminal.say(
        Message(
          one: """
            Erasure {number}: erased the user's data, including details in {count} audit log \
            entry.
            """,
          other: """
            Erasure {number}: erased the user's data, including details in {count} audit log \
            entries.
            """,
          ["number": .text(String(erasure.number)), "count": .number(progress.entries)]))
      return 0
    }
  }

  /// Waits until the audit log is erased, which is the server's task if one runs.
  private static func finish(
    _ number: Int64, in pool: Pool, _ identity: Identity, _ folder: DataFolder
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
      guard let progress = try await identity.userData.progress(of: number, in: pool) else {
        throw ConfigurationError(Message("Nothing is stored about a user with this UID."))
      }
      if progress.isFinished || ContinuousClock.now > end { return progress }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}
