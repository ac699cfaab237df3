import Crypto
import Identity
import Localization

/// The options for password hashes, named as in the Firebase CLI.
enum HashOptions {
  static let all = [
    Option(
      "hash-algo", "NAME", variable: false,
      help: Message("Hash algorithm: SCRYPT, BCRYPT, … (default: detected from each hash).")),
    Option(
      "hash-key", "KEY", variable: false,
      help: Message("The signer key in base64 (HMAC_*, SCRYPT).")),
    Option(
      "salt-separator", "TEXT", variable: false,
      help: Message("The salt separator in base64 (SCRYPT).")),
    Option(
      "rounds", "N", variable: false,
      help: Message("Rounds (MD5, SHA*, PBKDF*, SCRYPT), or passes (ARGON2).")),
    Option(
      "mem-cost", "N", variable: false,
      help: Message("Memory cost (SCRYPT, STANDARD_SCRYPT), or memory in KiB (ARGON2).")),
    Option(
      "parallelization", "N", variable: false,
      help: Message("Parallelization (STANDARD_SCRYPT, ARGON2).")),
    Option(
      "block-size", "N", variable: false, help: Message("Block size (STANDARD_SCRYPT).")),
    Option(
      "dk-len", "N", variable: false, help: Message("Length of the hash (STANDARD_SCRYPT, ARGON2).")
    ),
    Option(
      "hash-input-order", "ORDER", variable: false,
      help: Message("SALT_FIRST or PASSWORD_FIRST (HMAC_*, MD5, SHA*).")),
    Option(
      "argon2-type", "TYPE", variable: false,
      help: Message("argon2id, argon2i, or argon2d (default: argon2id).")),
    Option("argon2-version", "N", variable: false, help: Message("16 or 19 (default: 19).")),
    Option(
      "associated-data", "DATA", variable: false,
      help: Message("Associated data in base64 (ARGON2).")),
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
      throw UsageError(
        Message("unknown order {word}; use SALT_FIRST or PASSWORD_FIRST", ["word": .text(word)]))
    }
    guard parameters.algorithm == "ARGON2" else { return parameters }
    let word = arguments.value("argon2-type")?.lowercased() ?? Argon2.Kind.id.rawValue
    guard let kind = Argon2.Kind(rawValue: word) else {
      throw UsageError(
        Message("unknown type {word}; use argon2id, argon2i, or argon2d", ["word": .text(word)]))
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
    case .unknownAlgorithm: Message("unknown hash algorithm")
    case .missing(let name):
      Message("the hash algorithm requires --{option}", ["option": .text(option(name))])
    case .outOfRange(let name, let range):
      Message(
        "--{option} must be between {least} and {most}",
        [
          "option": .text(option(name)), "least": .text("\(range.lowerBound)"),
          "most": .text("\(range.upperBound)"),
        ])
    case .notPowerOfTwo(let name):
      Message("--{option} must be a power of two greater than one", ["option": .text(option(name))])
    case .tooLong(let name):
      Message("--{option} is longer than 1024 bytes", ["option": .text(option(name))])
    case .tooExpensive:
      Message("a hash can use at most 256 MiB, and 1 GiB across all parallelization or iterations")
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
        Message(
          "--{name} must be a whole number, not {text}", ["name": .text(name), "text": .text(text)])
      )
    }
    return number
  }

  private static func bytes(
    _ name: String, _ arguments: Arguments
  ) throws(UsageError) -> [UInt8]? {
    guard let text = arguments.value(name) else { return nil }
    guard let bytes = Base64URL.decode(text) else {
      throw UsageError(Message("--{name} must be base64", ["name": .text(name)]))
    }
    return bytes
  }
}
