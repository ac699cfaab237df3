import Foundation
import Identity
import Localization

enum KeysListCommand: Command {
  static let name = "keys list"
  static let summary = Message("cli.summary-lists-token-signing-keys-and-the")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      for (key, state) in try await instance.identity.signingKeys.list() {
        var times = [
          Message("cli.key-created", ["time": .text(key.createdAt.rfc3339Milliseconds)]),
          Message("cli.signs-from", ["time": .text(key.signsFrom.rfc3339Milliseconds)]),
        ]
        if let until = key.verifiesUntil {
          times.append(Message("cli.valid-until", ["time": .text(until.rfc3339Milliseconds)]))
        }
        let columns = [key.id, state.rawValue] + times.map(OperatorText.string)
        Terminal.say(columns: columns)
      }
      for key in try await instance.identity.masterKeys.list() {
        let since =
          key.since.map { Message("cli.since", ["time": .text($0.rfc3339Milliseconds)]) }
          ?? Message("cli.not-used-yet")
        let state =
          key.isSealing ? Message("cli.master-encrypts") : Message("cli.master-decrypts-only")
        let columns = [key.id] + [state, since].map(OperatorText.string)
        Terminal.say(columns: columns)
      }
      return 0
    }
  }
}

enum KeysRotateCommand: Command {
  static let name = "keys rotate"
  static let summary = Message("cli.summary-creates-the-next-token-signing-key")
  static let options =
    Instance.options + [
      Option(
        "now", variable: false,
        help: Message("cli.help-sign-with-it-immediately-in-case"))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      do {
        let key = try await instance.identity.signingKeys.rotate(
          immediately: arguments.has("now"), by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            "cli.created-its-published-now-and-signs",
            ["id": .text("\(key.id)"), "signsFrom": .text(key.signsFrom.rfc3339Milliseconds)]))
        return 0
      } catch KeyRotationError.anotherIsWaiting(let moment) {
        throw ConfigurationError(
          Message(
            "cli.a-new-key-is-already-published", ["moment": .text(moment.rfc3339Milliseconds)]))
      }
    }
  }
}

enum KeysRetireCommand: Command {
  static let name = "keys retire"
  static let summary = Message(
    "cli.summary-retires-a-token-signing-key-early",
    ["seconds": .number(KeyRotationTask.interval)])
  static let operands = "ID"
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand(Message("cli.the-id-of-a-key"))
    return try await Instance.use(arguments) { instance in
      do {
        try await instance.identity.signingKeys.retire(id, by: Author(actor: .commandLine))
        Terminal.say(Message("cli.retired-verifiers-drop-it-from-their", ["id": .text(id)]))
        return 0
      } catch KeyRotationError.notFound {
        throw ConfigurationError(Message("cli.key-not-found-see-countersign-keys"))
      } catch KeyRotationError.isTheOnlyOne {
        throw ConfigurationError(Message("cli.this-is-the-only-signing-key"))
      }
    }
  }
}
