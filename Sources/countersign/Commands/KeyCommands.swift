import Foundation
import Identity

/// Lists token signing keys and the IDs of master keys.
enum KeysListCommand: Command {
  static let name = "keys list"
  static let summary = "lists token signing keys and the IDs of master keys"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      for (key, state) in try await instance.identity.signingKeys.list() {
        var words = [key.id, state.rawValue, "created \(key.createdAt.rfc3339Milliseconds)"]
        words.append("signs from \(key.signsFrom.rfc3339Milliseconds)")
        if let until = key.verifiesUntil {
          words.append("valid until \(until.rfc3339Milliseconds)")
        }
        Terminal.say(words.joined(separator: "\t"))
      }
      for key in try await instance.identity.masterKeys.list() {
        let since = key.since.map { "since \($0.rfc3339Milliseconds)" } ?? "not used yet"
        let state = key.isSealing ? "master, encrypts" : "master, decrypts only"
        Terminal.say("\(key.id)\t\(state)\t\(since)")
      }
      return 0
    }
  }
}

/// Creates the next token signing key.
enum KeysRotateCommand: Command {
  static let name = "keys rotate"
  static let summary =
    "creates the next token signing key; it's used once verifiers have had time to fetch it"
  static let options = [
    Instance.dataOption,
    Option(
      "now", variable: false,
      help: "Sign with the new key immediately, for when the current one is compromised."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      do {
        let key = try await instance.identity.signingKeys.rotate(
          immediately: arguments.has("now"), by: Author(actor: .commandLine))
        Terminal.say(
          """
          Created \(key.id). It's published now and signs from \
          \(key.signsFrom.rfc3339Milliseconds). Older keys retire automatically once everything \
          they signed has expired.
          """)
        return 0
      } catch KeyRotationError.anotherIsWaiting(let moment) {
        throw ConfigurationError(
          "A new key is already published and signs from \(moment.rfc3339Milliseconds).")
      }
    }
  }
}

/// Retires a token signing key early.
enum KeysRetireCommand: Command {
  static let name = "keys retire"
  static let summary =
    "retires a token signing key early; tokens it signed are rejected immediately"
  static let operands = "ID"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand("the ID of a key")
    return try await Instance.use(arguments) { instance in
      do {
        try await instance.identity.signingKeys.retire(id, by: Author(actor: .commandLine))
        Terminal.say("Retired \(id). Verifiers drop it from their caches within an hour.")
        return 0
      } catch KeyRotationError.notFound {
        throw ConfigurationError("Key not found. See countersign keys list.")
      } catch KeyRotationError.isTheOnlyOne {
        throw ConfigurationError(
          "This is the only signing key. Create another first: countersign keys rotate --now.")
      }
    }
  }
}
