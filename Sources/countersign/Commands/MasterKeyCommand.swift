import Crypto
import Foundation
import Identity
import Localization

/// Adds a new master key and re-encrypts all secrets with it.
///
/// A running server re-encrypts, since it holds the key in memory and keeps serving; otherwise this
/// command does. If either is killed, the next server or the next run of the command continues.
enum KeysRotateMasterCommand: Command {
  static let name = "keys rotate-master"
  static let summary = Message(
    "creates a new master key and re-encrypts all secrets; the server can keep running")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let folder = try DataFolder(arguments)
    try folder.mustExist()
    let environment = ProcessInfo.processInfo.environment
    if let passed = PassedKey(environment: environment) { return try rotate(passed) }
    let change = try folder.lockKeysForChange()
    // No server can start while this command holds its lock.
    let server = try folder.lockIfFree()
    let instance = try await Instance.existing(folder, migrates: false)
    let code = try await instance.database.closing {
      try await begin(instance, folder)
      // Commands that start from here on read the new key.
      change.release()
      return server == nil
        ? try await follow(instance, folder) : try await seal(instance, folder)
    }
    server?.release()
    return code
  }

  /// Creates a new key, unless there's one already, and records it once every server has it.
  private static func begin(_ instance: Instance, _ folder: DataFolder) async throws {
    let former = try KeyRing(text: instance.keys.text.revealedText)
    let isUnderWay = former.ids.count > 1
    // Beside other servers, a key that isn't recorded isn't the first of the instance's.
    let ring = isUnderWay ? try folder.keptKeys() ?? former : former.rotated(random: .system)
    if isUnderWay {
      Terminal.say(Message("A rotation is already in progress. Continuing it."))
    } else {
      try folder.store(ring)
      Terminal.say(
        Message(
          """
          Created a new master key. Store a copy of {folder}/master.key somewhere else. Earlier \
          backups need the previous key: keep its copy as long as you keep them.
          """, ["folder": .text(folder.path)]))
    }
    let lacking = try await KeyDistribution(of: ring.ids[0], instance.identity)
      .finish(copying: folder.key)
    guard lacking.isEmpty else { throw try await undo(ring, lacking, instance, folder) }
    instance.keys.adopt(ring)
    let late = try await instance.identity.masterKeys.begin(by: Author(actor: .commandLine))
    guard late.isEmpty else { throw try await undo(ring, late.map(\.place), instance, folder) }
  }

  /// Removes a key that servers lack from the file, unless it's in use.
  private static func undo(
    _ ring: KeyRing, _ lacking: [String], _ instance: Instance, _ folder: DataFolder
  ) async throws -> ConfigurationError {
    let list = Message.Value.text(KeyDistribution.list(lacking))
    guard try await instance.identity.masterKeys.newest() != ring.ids[0] else {
      return .temporary(
        Message(
          "The new key is in use, but these servers lack it: {servers}. Copy {file} to them now.",
          ["file": .text(folder.key), "servers": list]))
    }
    try folder.store(ring.former())
    return .temporary(
      Message(
        """
        After ten minutes, these servers still lack the new key: {servers}. It isn't used, and \
        {file} has only the previous keys again. Copy that file to the other servers, and repeat \
        the command.
        """, ["file": .text(folder.key), "servers": list]))
  }

  /// Re-encrypts all secrets, printing progress about every 1,000 rows.
  private static func seal(_ instance: Instance, _ folder: DataFolder) async throws -> Int32 {
    var reported = 0
    while true {
      switch try await instance.identity.masterKeys.step() {
      case .part(let progress):
        guard progress.rows >= reported + 1_000 || reported == 0 else { continue }
        reported = progress.rows
        Terminal.say(
          Message(
            one: "Re-encrypted {count} secret.",
            other: "Re-encrypted {count} secrets.", ["count": .number(progress.changed)]))
      case .waiting(let moment):
        Terminal.say(
          Message(
            """
            All secrets are encrypted with the new key. The previous one is kept until {moment} \
            for tokens that clients hold. After that, the server or the next run of this command \
            removes it.
            """, ["moment": .text(moment.rfc3339Milliseconds)])
        )
        return 0
      case .droppable:
        try await instance.identity.masterKeys.drop()
        try folder.store(instance.keys.newestAlone())
        Terminal.say(Message("Removed the previous key, which is no longer needed."))
        return 0
      case .unrecorded:
        try await instance.identity.masterKeys.begin(by: Author(actor: .commandLine))
      case .settled: return 0
      }
    }
  }

  /// Waits while a running server re-encrypts all secrets, up to a minute without progress; two
  /// more if another server has to take over, because the one in charge doesn't have the new key.
  private static func follow(_ instance: Instance, _ folder: DataFolder) async throws -> Int32 {
    Terminal.say(Message("The running server is re-encrypting all secrets."))
    let patience = folder.isOnServer ? 180 : 60
    var last: ResealProgress?
    var idle = 0
    while idle < patience {
      let state = try await instance.identity.masterKeys.progress()
      if state.isDone {
        Terminal.say(
          Message(
            """
            All secrets are encrypted with the new key. The server removes the previous one in an \
            hour.
            """))
        return 0
      }
      idle = state.progress == last ? idle + 1 : 0
      if state.progress != last, state.progress.rows > 0 {
        Terminal.say(
          Message(
            one: "Re-encrypted {count} secret.", other: "Re-encrypted {count} secrets.",
            ["count": .number(state.progress.changed)]))
      }
      last = state.progress
      try await Task.sleep(for: .seconds(1))
    }
    throw ConfigurationError(
      folder.isOnServer
        ? Message(
          """
          No server made progress for three minutes. Copy {file} to all servers of the database. \
          Re-encryption continues automatically.
          """, ["file": .text(folder.key)])
        : Message(
          """
          The server made no progress for a minute. Check that its user can read {file}, and then \
          restart it. Re-encryption continues automatically.
          """, ["file": .text(folder.key)]))
  }

  /// Prints the new value of a key that was passed, which this program can't replace.
  private static func rotate(_ passed: PassedKey) throws -> Int32 {
    let ring = try passed.ring()
    guard ring.ids.count == 1 else {
      throw ConfigurationError(
        Message(
          """
          {variable} still contains a previous key. Remove it once the server reports that you \
          can.
          """, ["variable": .text(passed.source)]))
    }
    Terminal.say(document: ring.rotated(random: .system).text.revealedText)
    Terminal.complain(
      Message(
        """
        Set {variable} to this value and restart the server. It re-encrypts all secrets with the \
        first key and reports when you can remove the second.
        """, ["variable": .text(passed.source)]))
    return 0
  }
}

/// Waits until every server on the database has a new master key, which only decrypts until then.
struct KeyDistribution {
  static let patience = Duration.seconds(600)

  let lacking: () async throws -> [Nodes.Node]
  /// Waits until it's time to ask again; returns false if that was long enough.
  let pause: () async throws -> Bool
  let say: (Message) -> Void
}

extension KeyDistribution {
  init(of key: String, _ identity: Identity) {
    let end = ContinuousClock.now + Self.patience
    self.init(
      lacking: { try await identity.nodes.lacking(key) },
      pause: {
        try await Task.sleep(for: .seconds(1))
        return ContinuousClock.now < end
      }, say: { Terminal.say($0) })
  }

  /// Says where to copy the file with the key, and waits.
  ///
  /// - Returns: The servers that still lack the key.
  func finish(copying file: String) async throws -> [String] {
    var places = try await lacking().map(\.place)
    guard !places.isEmpty else { return [] }
    say(
      Message(
        """
        The new key isn't used until every server has it. Copy {file} to these places, with mode \
        600 and the folder's user, unless they're the same file: {servers}. Where a variable or a \
        credential has the key, store both lines there, newest first, and restart the server. \
        Waiting for up to ten minutes.
        """, ["file": .text(file), "servers": .text(Self.list(places))]))
    while try await pause() {
      let left = try await lacking().map(\.place)
      for place in Set(places).subtracting(left).sorted() {
        say(Message("{server} has the new key.", ["server": .text(place)]))
      }
      places = left
      if places.isEmpty { return [] }
    }
    return places
  }

  static func list(_ places: [String]) -> String {
    places.joined(separator: ", ")
  }
}
