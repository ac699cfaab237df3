import Crypto
import DatabaseSQLite
import Foundation
import Identity

/// Adds a new master key and re-encrypts all secrets with it.
///
/// A running server re-encrypts, since it holds the key in memory and keeps serving; otherwise this
/// command does. If either is killed, the next server or the next run of the command continues.
enum KeysRotateMasterCommand: Command {
  static let name = "keys rotate-master"
  static let summary =
    "creates a new master key and re-encrypts all secrets; the server can keep running"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = DataFolder(path: try arguments.required("data"))
    try folder.mustExist()
    let environment = ProcessInfo.processInfo.environment
    guard environment[DataFolder.variable] == nil else { return try inEnvironment(environment) }
    let change = try folder.lockKeysForChange()
    // No server can start while this command holds its lock.
    let server = try folder.lockIfFree()
    let instance = try await Instance.existing(folder, migrates: server != nil)
    do {
      let isUnderWay = instance.keys.ids.count > 1
      if isUnderWay {
        Terminal.say("A rotation is already in progress. Continuing it.")
      } else {
        let ring = instance.keys.rotated(random: .system)
        try folder.store(ring)
        instance.keys.adopt(ring)
        try await instance.identity.masterKeys.begin(by: Author(actor: .commandLine))
        Terminal.say(
          """
          Created a new master key. Store a copy of \(folder.path)/master.key somewhere else. \
          Earlier backups need the previous key: keep its copy as long as you keep them.
          """)
      }
      // Commands that start from here on read the new key.
      try? change.close()
      let code =
        server == nil ? try await follow(instance) : try await seal(instance, folder)
      await instance.database.close()
      try? server?.close()
      return code
    } catch {
      await instance.database.close()
      throw error
    }
  }

  /// Re-encrypts all secrets, printing progress about every 1,000 rows.
  private static func seal(_ instance: Instance, _ folder: DataFolder) async throws -> Int32 {
    var reported = 0
    while true {
      switch try await instance.identity.masterKeys.step() {
      case .part(let progress):
        guard progress.rows >= reported + 1_000 || reported == 0 else { continue }
        reported = progress.rows
        Terminal.say("Re-encrypted \(progress.changed) secrets.")
      case .waiting(let moment):
        Terminal.say(
          """
          All secrets are encrypted with the new key. The previous one is kept until \
          \(moment.rfc3339Milliseconds) for tokens that clients hold. After that, the server or \
          the next run of this command removes it.
          """)
        return 0
      case .droppable:
        try await instance.identity.masterKeys.drop()
        try folder.store(instance.keys.newestAlone())
        Terminal.say("Removed the previous key, which is no longer needed.")
        return 0
      case .settled: return 0
      }
    }
  }

  /// Waits while a running server re-encrypts all secrets, up to 60 s without progress.
  private static func follow(_ instance: Instance) async throws -> Int32 {
    Terminal.say("The running server is re-encrypting all secrets.")
    var last: ResealProgress?
    var idle = 0
    while idle < 60 {
      let state = try await instance.identity.masterKeys.progress()
      if state.isDone {
        Terminal.say(
          "All secrets are encrypted with the new key. The server removes the previous one in an "
            + "hour.")
        return 0
      }
      idle = state.progress == last ? idle + 1 : 0
      if state.progress != last, state.progress.rows > 0 {
        Terminal.say("Re-encrypted \(state.progress.changed) secrets.")
      }
      last = state.progress
      try await Task.sleep(for: .seconds(1))
    }
    throw ConfigurationError(
      "The server made no progress for a minute. Restart it; re-encryption continues automatically."
    )
  }

  /// Prints the new value of the environment variable, which this program can't set.
  private static func inEnvironment(_ environment: [String: String]) throws -> Int32 {
    let ring: KeyRing
    do { ring = try KeyRing(text: environment[DataFolder.variable] ?? "") } catch {
      throw ConfigurationError("\(DataFolder.variable) isn't a master key: \(error)")
    }
    guard ring.ids.count == 1 else {
      throw ConfigurationError(
        "\(DataFolder.variable) still contains a previous key. Remove it once the server reports "
          + "that you can."
      )
    }
    Terminal.say(ring.rotated(random: .system).text.revealedText)
    Terminal.complain(
      """
      Set \(DataFolder.variable) to this value and restart the server. It re-encrypts all secrets \
      with the first key and reports when you can remove the second.
      """)
    return 0
  }
}
