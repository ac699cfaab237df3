import Database
import Foundation
import Identity
import Localization

enum RestoredCommand: Command {
  static let name = "restored"
  static let summary = Message(
    """
    ends sessions and marks codes as used after PostgreSQL's tools recovered the database; all \
    servers must be stopped
    """)
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    var folder = try DataFolder(arguments)
    folder.isAlone = true
    try folder.mustExist()
    let server = try folder.lock()
    let keys = try folder.lockKeys()
    defer {
      keys.release()
      server.release()
    }
    let stopped = WallClock.system.now()
    let instance = try await Instance.existing(folder, migrates: false)
    do {
      let report = try await instance.database.closing {
        try await RestoreCommand.waitForNextSecond(after: stopped)
        return try await instance.identity.endTheRestoredPast(
          file: nil, keepsSessions: false, former: nil, isAlone: true,
          by: Author(actor: .commandLine))
      }
      Terminal.say(report.message)
      Terminal.say(
        Message(
          """
          What was removed, revoked, or changed since the recovered state is back. Repeat what you \
          know of: removed factors and users, revoked tokens, keys, and roles, changed passwords, \
          used recovery codes.
          """))
      return 0
    } catch {
      guard (error as? DatabaseError)?.code == .busy else { throw error }
      throw ConfigurationError.temporary(
        Message("A server or a command is using the database. Stop it first."))
    }
  }
}
