import Foundation
import Identity
import Localization

enum KeysListCommand: Command {
  static let name = "keys list"
  static let summary = Message("lists token signing keys and the IDs of master keys")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      for (key, state) in try await instance.identity.signingKeys.list() {
        var times = [
          Message("created {time}", ["time": .text(key.createdAt.rfc3339Milliseconds)]),
          Message("signs from {time}", ["time": .text(key.signsFrom.rfc3339Milliseconds)]),
        ]
        if let until = key.verifiesUntil {
          times.append(Message("valid until {time}", ["time": .text(until.rfc3339Milliseconds)]))
        }
        let columns = [key.id, state.rawValue] + times.map(OperatorText.string)
        Terminal.say(columns: columns)
      }
      for key in try await instance.identity.masterKeys.list() {
        let since =
          key.since.map { Message("since {time}", ["time": .text($0.rfc3339Milliseconds)]) }
          ?? Message("not used yet")
        let state =
          key.isSealing ? Message("master, encrypts") : Message("master, decrypts only")
        let columns = [key.id] + [state, since].map(OperatorText.string)
        Terminal.say(columns: columns)
      }
      return 0
    }
  }
}

enum KeysRotateCommand: Command {
  static let name = "keys rotate"
  static let summary = Message(
    "creates the next token signing key; it's used once verifiers have had time to fetch it")
  static let options =
    Instance.options + [
      Option(
        "now", variable: false,
        help: Message(
          "Sign with the new key immediately, for example if the current one is compromised."))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      do {
        let key = try await instance.identity.signingKeys.rotate(
          immediately: arguments.has("now"), by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            """
            Created {id}. It's published now and signs from {signsFrom}. Older keys retire \
            automatically once everything they signed has expired.
            """,
            ["id": .text("\(key.id)"), "signsFrom": .text(key.signsFrom.rfc3339Milliseconds)]))
        return 0
      } catch KeyRotationError.anotherIsWaiting(let moment) {
        throw ConfigurationError(
          Message(
            "A new key is already published and signs from {moment}.",
            ["moment": .text(moment.rfc3339Milliseconds)]))
      }
    }
  }
}

enum KeysRetireCommand: Command {
  static let name = "keys retire"
  static let summary = Message(
    "retires a token signing key early; servers reject tokens it signed within {seconds} seconds",
    ["seconds": .number(KeyRotationTask.interval)])
  static let operands = "ID"
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand(Message("the ID of a key"))
    return try await Instance.use(arguments) { instance in
      do {
        try await instance.identity.signingKeys.retire(id, by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            "Retired {id}. Verifiers drop it from their caches within an hour.", ["id": .text(id)]))
        return 0
      } catch CallError.notFound {
        throw ConfigurationError(Message("Key not found. See countersign keys list."))
      } catch KeyRotationError.isTheOnlyOne {
        throw ConfigurationError(
          Message(
            "This is the only signing key. Create another first: countersign keys rotate --now."))
      }
    }
  }
}
