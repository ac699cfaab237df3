/// The unvalidated parameters of imported password hashes.
///
/// The names are those of Google's Identity Toolkit.
public struct HashParameters: Sendable {
  /// The name of the algorithm, such as `SCRYPT`; nil or empty when each hash contains it.
  public var algorithm: String?
  /// The key for HMAC or Firebase scrypt.
  public var signerKey: [UInt8]?
  /// The separator between password and salt in Firebase scrypt.
  public var saltSeparator: [UInt8]?
  /// The number of rounds, for algorithms that have them.
  public var rounds: Int?
  /// The memory cost of Firebase scrypt, as an exponent of two.
  public var memoryCost: Int?
  /// The cost of standard scrypt, a power of two.
  public var cpuMemCost: Int?
  /// The parallelization of standard scrypt.
  public var parallelization: Int?
  /// The block size of standard scrypt.
  public var blockSize: Int?
  /// The length of a standard scrypt hash, in bytes.
  public var dkLen: Int?
  /// The order of salt and password.
  public var order: PasswordOrder?
  /// The parameters of Argon2 hashes.
  public var argon2: Argon2?
  /// False when the kind of Argon2 isn't specified.
  public var namesArgon2Kind = true
  /// The length of an Argon2 hash, in bytes.
  public var argon2Length: Int?

  /// Creates empty parameters.
  public init() {}
}

/// The reason that import parameters are invalid.
public enum HashParameterError: Error, Equatable, Sendable {
  /// The algorithm doesn't exist.
  case unknownAlgorithm
  /// A required parameter is missing; the value is its name in the REST API.
  case missing(String)
  /// A number is out of range.
  case outOfRange(String, ClosedRange<Int>)
  /// A number isn't a power of two greater than one.
  case notPowerOfTwo(String)
  /// A key, separator, or associated data is longer than 1024 bytes.
  case tooLong(String)
  /// A hash would need more memory or time than allowed.
  case tooExpensive
}

extension PasswordAlgorithm {
  /// Validates parameters against the algorithm's requirements and this server's limits.
  ///
  /// - Throws: ``HashParameterError``.
  public init(_ parameters: HashParameters) throws(HashParameterError) {
    guard let word = parameters.algorithm, !word.isEmpty else {
      self = .selfDescribing
      return
    }
    switch word {
    case "HMAC_SHA256": self = try .hmac(.sha256, parameters)
    case "HMAC_SHA512": self = try .hmac(.sha512, parameters)
    case "HMAC_SHA1": self = try .hmac(.sha1, parameters)
    case "HMAC_MD5": self = try .hmac(.md5, parameters)
    case "MD5": self = try .digest(.md5, parameters)
    case "SHA1": self = try .digest(.sha1, parameters)
    case "SHA256": self = try .digest(.sha256, parameters)
    case "SHA512": self = try .digest(.sha512, parameters)
    case "PBKDF_SHA1": self = .pbkdf2(.sha1, rounds: try Self.pbkdf2Rounds(parameters))
    case "PBKDF2_SHA256": self = .pbkdf2(.sha256, rounds: try Self.pbkdf2Rounds(parameters))
    case "PBKDF2_SHA512": self = .pbkdf2(.sha512, rounds: try Self.pbkdf2Rounds(parameters))
    case "SCRYPT": self = try .firebaseScrypt(parameters)
    case "STANDARD_SCRYPT": self = try .scrypt(parameters)
    case "BCRYPT": self = .bcrypt
    case "ARGON2": self = try .argon2(parameters)
    default: throw .unknownAlgorithm
    }
  }

  private static func hmac(
    _ digest: LegacyDigest, _ parameters: HashParameters
  ) throws(HashParameterError) -> PasswordAlgorithm {
    // The default of the Node SDK, which never sends the order.
    .hmac(digest, key: try signerKey(parameters), order: parameters.order ?? .passwordFirst)
  }

  private static func digest(
    _ digest: LegacyDigest, _ parameters: HashParameters
  ) throws(HashParameterError) -> PasswordAlgorithm {
    let range = digest == .md5 ? PasswordCeiling.md5Rounds : PasswordCeiling.digestRounds
    // proto3 omits zeros, so a missing number is zero.
    let rounds = try checked(parameters.rounds ?? 0, "rounds", range)
    return .digest(digest, rounds: rounds, order: parameters.order ?? .saltFirst)
  }

  private static func pbkdf2Rounds(
    _ parameters: HashParameters
  ) throws(HashParameterError) -> Int {
    try checked(parameters.rounds ?? 0, "rounds", PasswordCeiling.pbkdf2Rounds)
  }

  private static func firebaseScrypt(
    _ parameters: HashParameters
  ) throws(HashParameterError) -> PasswordAlgorithm {
    .firebaseScrypt(
      signerKey: try signerKey(parameters),
      saltSeparator: try bytes(parameters.saltSeparator ?? [], "saltSeparator"),
      rounds: try required(parameters.rounds, "rounds", 1...8),
      memoryCost: try required(parameters.memoryCost, "memoryCost", 1...14))
  }

  private static func scrypt(
    _ parameters: HashParameters
  ) throws(HashParameterError) -> PasswordAlgorithm {
    let cost = try required(parameters.cpuMemCost, "cpuMemCost", 2...(1 << 30))
    let blockSize = try required(parameters.blockSize, "blockSize", 1...(1 << 20))
    let lanes = try required(parameters.parallelization, "parallelization", 1...(1 << 20))
    // The hash's own length is used, but the parameter must still be valid.
    _ = try checked(parameters.dkLen ?? 64, "dkLen", 1...PasswordCeiling.hash)
    guard cost & (cost - 1) == 0 else { throw .notPowerOfTwo("cpuMemCost") }
    let memory = 128 * cost * blockSize
    guard memory <= PasswordCeiling.memory, memory * lanes <= PasswordCeiling.memoryWork else {
      throw .tooExpensive
    }
    return .scrypt(cost: cost, blockSize: blockSize, parallelization: lanes)
  }

  private static func argon2(
    _ parameters: HashParameters
  ) throws(HashParameterError) -> PasswordAlgorithm {
    guard let argon2 = parameters.argon2 else { throw .missing("argon2Parameters") }
    // The hash's own length is used, but the parameter must still be valid.
    _ = try checked(
      parameters.argon2Length ?? 32, "argon2Parameters.hashLengthBytes", 1...PasswordCeiling.hash)
    let known = try checked(argon2)
    guard known.isAffordable else { throw .tooExpensive }
    guard parameters.namesArgon2Kind else { throw .missing("argon2Parameters.hashType") }
    return .argon2(known)
  }

  /// Validates the parameters of Argon2, without the work of an imported hash: hashes stored by
  /// earlier versions may have more.
  static func checked(_ argon2: Argon2) throws(HashParameterError) -> Argon2 {
    let lanes = PasswordCeiling.argon2Lanes
    _ = try checked(
      argon2.memory, "argon2Parameters.memoryCostKib",
      8 * min(max(argon2.lanes, lanes.lowerBound), lanes.upperBound)...PasswordCeiling.memory >> 10)
    _ = try checked(argon2.passes, "argon2Parameters.iterations", PasswordCeiling.argon2Passes)
    _ = try checked(argon2.lanes, "argon2Parameters.parallelism", lanes)
    _ = try checked(argon2.version, "argon2Parameters.version", 16...19)
    guard argon2.version != 17, argon2.version != 18 else {
      throw .outOfRange("argon2Parameters.version", 16...19)
    }
    _ = try bytes(argon2.associatedData, "argon2Parameters.associatedData")
    return argon2
  }

  private static func signerKey(
    _ parameters: HashParameters
  ) throws(HashParameterError) -> [UInt8] {
    guard let key = parameters.signerKey, !key.isEmpty else { throw .missing("signerKey") }
    return try bytes(key, "signerKey")
  }

  private static func required(
    _ number: Int?, _ name: String, _ range: ClosedRange<Int>
  ) throws(HashParameterError) -> Int {
    guard let number else { throw .missing(name) }
    return try checked(number, name, range)
  }

  private static func checked(
    _ number: Int, _ name: String, _ range: ClosedRange<Int>
  ) throws(HashParameterError) -> Int {
    guard range.contains(number) else { throw .outOfRange(name, range) }
    return number
  }

  private static func bytes(
    _ bytes: [UInt8], _ name: String
  ) throws(HashParameterError) -> [UInt8] {
    guard bytes.count <= PasswordCeiling.bytes else { throw .tooLong(name) }
    return bytes
  }
}
