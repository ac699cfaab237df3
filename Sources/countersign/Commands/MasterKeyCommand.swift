import Crypto
import DatabaseSQLite
import Foundation
import Identity

/// Puts a new master key in front of the old, and seals everything with it.
///
/// A server that runs does the sealing, since it has the key in memory and goes on serving; without
/// one this command does. Whoever is killed is followed by the next server or call of the command.
enum KeysRotateMasterCommand: Command {
  static let name = "keys rotate-master"
  static let summary =
    "makes a new master key and seals everything with it, also while the server runs"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = DataFolder(path: try arguments.required("data"))
    try folder.mustExist()
    let environment = ProcessInfo.processInfo.environment
    guard environment[DataFolder.variable] == nil else { return try inEnvironment(environment) }
    let change = try folder.lockKeysForChange()
    // Nobody starts a server while this has its lock.
    let server = try folder.lockIfFree()
    let instance = try await Instance.existing(folder, migrates: server != nil)
    do {
      let isUnderWay = instance.keys.ids.count > 1
      if isUnderWay {
        Terminal.say("A rotation is under way already; going on with it.")
      } else {
        let ring = instance.keys.rotated(random: .system)
        try folder.store(ring)
        instance.keys.adopt(ring)
        try await instance.identity.masterKeys.begin(by: Author(actor: .commandLine))
        Terminal.say(
          """
          Made a new master key. Copy \(folder.path)/master.key to where you keep it apart. Backups \
          of before need the former key: keep its copy as long as them.
          """)
      }
      // Commands that begin now read the new key.
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

  /// Seals everything, with a line now and then.
  private static func seal(_ instance: Instance, _ folder: DataFolder) async throws -> Int32 {
    var said = 0
    while true {
      switch try await instance.identity.masterKeys.step() {
      case .part(let progress):
        guard progress.rows >= said + 1_000 || said == 0 else { continue }
        said = progress.rows
        Terminal.say("Sealed \(progress.changed) secrets anew.")
      case .waiting(let moment):
        Terminal.say(
          """
          Everything is sealed with the new key. The former one stays until \
          \(moment.rfc3339Milliseconds) for what clients carry; the server drops it then, or this \
          command when it is called again.
          """)
        return 0
      case .droppable:
        try await instance.identity.masterKeys.drop()
        try folder.store(instance.keys.newestAlone())
        Terminal.say("Nothing needs the former key any more: it was dropped.")
        return 0
      case .settled: return 0
      }
    }
  }

  /// Waits while a running server seals everything.
  private static func follow(_ instance: Instance) async throws -> Int32 {
    Terminal.say("The running server seals everything with it.")
    var last: ResealProgress?
    var idle = 0
    while idle < 60 {
      let state = try await instance.identity.masterKeys.progress()
      if state.isDone {
        Terminal.say(
          "Everything is sealed with the new key. The server drops the former one in an hour.")
        return 0
      }
      idle = state.progress == last ? idle + 1 : 0
      if state.progress != last, state.progress.rows > 0 {
        Terminal.say("Sealed \(state.progress.changed) secrets anew.")
      }
      last = state.progress
      try await Task.sleep(for: .seconds(1))
    }
    throw ConfigurationError(
      "The server has not taken the new key for a minute. Restart it; it goes on by itself.")
  }

  /// The environment is not this program's to change: it prints what is to be put there.
  private static func inEnvironment(_ environment: [String: String]) throws -> Int32 {
    let ring: KeyRing
    do { ring = try KeyRing(text: environment[DataFolder.variable] ?? "") } catch {
      throw ConfigurationError("\(DataFolder.variable) is not a master key: \(error)")
    }
    guard ring.ids.count == 1 else {
      throw ConfigurationError(
        "\(DataFolder.variable) has a former key still. Take it out when the server says so.")
    }
    Terminal.say(ring.rotated(random: .system).text.revealedText)
    Terminal.complain(
      """
      Put this in \(DataFolder.variable) and restart the server: it seals everything with the first \
      key, and says when the second can be taken out.
      """)
    return 0
  }
}
