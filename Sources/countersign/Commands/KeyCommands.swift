import Foundation
import Identity

/// Lists the keys that sign tokens, and the master keys by their ids.
enum KeysListCommand: Command {
  static let name = "keys list"
  static let summary = "lists the keys that sign tokens, and the ids of the master keys"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      for (key, state) in try await instance.identity.signingKeys.list() {
        var words = [key.id, state.rawValue, "made \(key.createdAt.rfc3339Milliseconds)"]
        words.append("signs from \(key.signsFrom.rfc3339Milliseconds)")
        if let until = key.verifiesUntil {
          words.append("believed until \(until.rfc3339Milliseconds)")
        }
        Terminal.say(words.joined(separator: "\t"))
      }
      for key in try await instance.identity.masterKeys.list() {
        let since = key.since.map { "since \($0.rfc3339Milliseconds)" } ?? "not used yet"
        let state = key.isSealing ? "master, seals" : "master, opens only"
        Terminal.say("\(key.id)\t\(state)\t\(since)")
      }
      return 0
    }
  }
}

/// Makes the next key that signs tokens.
enum KeysRotateCommand: Command {
  static let name = "keys rotate"
  static let summary = "makes the next key for tokens; it signs when verifiers had time to fetch it"
  static let options = [
    Instance.dataOption,
    Option(
      "now", variable: false,
      help: "Sign with it at once, for when the key of now may be known to others."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      do {
        let key = try await instance.identity.signingKeys.rotate(
          atOnce: arguments.has("now"), by: Author(actor: .commandLine))
        Terminal.say(
          """
          Made \(key.id). It is published now and signs from \(key.signsFrom.rfc3339Milliseconds). \
          The keys before it are retired by themselves when all they signed has run out.
          """)
        return 0
      } catch KeyRotationError.anotherIsWaiting(let moment) {
        throw ConfigurationError(
          "A new key is published already and signs from \(moment.rfc3339Milliseconds).")
      }
    }
  }
}

/// Retires a key before its time.
enum KeysRetireCommand: Command {
  static let name = "keys retire"
  static let summary = "retires a key for tokens before its time: what it signed is refused at once"
  static let operands = "ID"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand("the id of one key")
    return try await Instance.use(arguments) { instance in
      do {
        try await instance.identity.signingKeys.retire(id, by: Author(actor: .commandLine))
        Terminal.say("Retired \(id). Verifiers forget it within an hour.")
        return 0
      } catch KeyRotationError.notFound {
        throw ConfigurationError("There is no such key. See countersign keys list.")
      } catch KeyRotationError.isTheOnlyOne {
        throw ConfigurationError(
          "No other key is there to sign in its place. Make one first: countersign keys rotate "
            + "--now.")
      }
    }
  }
}
