import Crypto
import Identity
import Localization

/// The options for password hashes, named as in the Firebase CLI.
enum HashOptions {
  static let all = [
    Option(
      "hash-algo", "NAME", variable: false,
      help: Message("cli.help-hash-algorithm-scrypt-bcrypt-default")),
    Option(
      "hash-key", "KEY", variable: false, help: Message("cli.help-the-signer-key-in-base64-hmac")),
    Option(
      "salt-separator", "TEXT", variable: false,
      help: Message("cli.help-the-salt-separator-in-base64-scrypt")),
    Option(
      "rounds", "N", variable: false,
      help: Message("cli.help-rounds-md5-sha-pbkdf-scrypt-or")),
    Option(
      "mem-cost", "N", variable: false,
      help: Message("cli.help-memory-cost-scrypt-standard-scrypt-or")),
    Option(
      "parallelization", "N", variable: false,
      help: Message("cli.help-parallelization-standard-scrypt-argon2")),
    Option(
      "block-size", "N", variable: false, help: Message("cli.help-block-size-standard-scrypt")),
    Option(
      "dk-len", "N", variable: false, help: Message("cli.help-length-of-the-hash-standard-scrypt")),
    Option(
      "hash-input-order", "ORDER", variable: false,
      help: Message("cli.help-salt-first-or-password-first-hmac")),
    Option(
      "argon2-type", "TYPE", variable: false,
      help: Message("cli.help-argon2id-argon2i-or-argon2d-default")),
    Option("argon2-version", "N", variable: false, help: Message("cli.help-16-or-19-default-19")),
    Option(
      "associated-data", "DATA", variable: false,
      help: Message("cli.help-associated-data-in-base64-argon2")),
  ]

  /// - Throws: `UsageError` when a value isn't a number, base64, or a known name.
  static func parameters(_ arguments: Arguments) throws(UsageError) -> HashParameters {
    var parameters = HashParameters()
    parameters.algorithm = arguments.value("hash-algo")?.uppercased()
    parameters.signerKey = try bytes("hash-key", arguments)
    parameters.saltSeparator = try bytes("salt-separator", arguments)
    parameters.rounds = try number("rounds", arguments)
    parameters.memoryCost = try number("mem-cost", arguments)
    parameters.cpuMemCost = parameters.memoryCost
    parameters.parallelization = try number("parallelization", arguments)
    parameters.blockSize = try number("block-size", arguments)
    parameters.dkLen = try number("dk-len", arguments)
    switch arguments.value("hash-input-order")?.uppercased() {
    case nil: break
    case "SALT_FIRST": parameters.order = .saltFirst
    case "PASSWORD_FIRST": parameters.order = .passwordFirst
    case let word?:
      throw UsageError(Message("cli.unknown-order-use-salt-first-or", ["word": .text(word)]))
    }
    guard parameters.algorithm == "ARGON2" else { return parameters }
    let word = arguments.value("argon2-type")?.lowercased() ?? Argon2.Kind.id.rawValue
    guard let kind = Argon2.Kind(rawValue: word) else {
      throw UsageError(Message("cli.unknown-type-use-argon2id-argon2i-or", ["word": .text(word)]))
    }
    parameters.argon2Length = parameters.dkLen
    parameters.argon2 = Argon2(
      kind: kind, version: try number("argon2-version", arguments) ?? 19,
      memory: parameters.memoryCost ?? 0, passes: parameters.rounds ?? 0,
      lanes: parameters.parallelization ?? 1,
      associatedData: try bytes("associated-data", arguments) ?? [])
    return parameters
  }

  /// Describes invalid parameters; the error has the names of the REST API, the text the options'.
  static func sentence(_ error: HashParameterError) -> Message {
    switch error {
    case .unknownAlgorithm: Message("cli.unknown-hash-algorithm")
    case .missing(let name):
      Message("cli.the-hash-algorithm-requires", ["option": .text(option(name))])
    case .outOfRange(let name, let range):
      Message(
        "cli.must-be-between-and",
        [
          "option": .text(option(name)), "least": .text("\(range.lowerBound)"),
          "most": .text("\(range.upperBound)"),
        ])
    case .notPowerOfTwo(let name):
      Message("cli.must-be-a-power-of-two", ["option": .text(option(name))])
    case .tooLong(let name):
      Message("cli.is-longer-than-1024-bytes", ["option": .text(option(name))])
    case .tooExpensive: Message("cli.a-hash-can-use-at-most")
    }
  }

  private static func option(_ name: String) -> String {
    switch name {
    case "signerKey": "hash-key"
    case "saltSeparator": "salt-separator"
    case "memoryCost", "cpuMemCost", "argon2Parameters.memoryCostKib": "mem-cost"
    case "argon2Parameters.iterations": "rounds"
    case "argon2Parameters.parallelism": "parallelization"
    case "argon2Parameters.hashLengthBytes", "dkLen": "dk-len"
    case "argon2Parameters.version": "argon2-version"
    case "argon2Parameters.associatedData": "associated-data"
    case "blockSize": "block-size"
    default: name
    }
  }

  private static func number(_ name: String, _ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.value(name) else { return nil }
    guard let number = Int(text) else {
      throw UsageError(
        Message("cli.must-be-a-whole-number-not", ["name": .text(name), "text": .text(text)]))
    }
    return number
  }

  private static func bytes(
    _ name: String, _ arguments: Arguments
  ) throws(UsageError) -> [UInt8]? {
    guard let text = arguments.value(name) else { return nil }
    guard let bytes = Base64URL.decode(text) else {
      throw UsageError(Message("cli.must-be-base64", ["name": .text(name)]))
    }
    return bytes
  }
}
