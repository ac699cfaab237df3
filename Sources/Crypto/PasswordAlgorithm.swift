/// The algorithm and parameters of imported password hashes.
///
/// Source: user import in Google's Identity Toolkit. ``init(_:)`` validates a caller's parameters;
/// ``PasswordHash/init(_:salt:by:)`` stores them with each hash.
public enum PasswordAlgorithm: Sendable, Equatable {
  /// A keyed hash of password and salt (RFC 2104).
  case hmac(LegacyDigest, key: [UInt8], order: PasswordOrder)
  /// A hash of salt and password, hashed again `rounds` − 1 times.
  case digest(LegacyDigest, rounds: Int, order: PasswordOrder)
  /// PBKDF2 (RFC 8018 section 5.2), with the length of the hash.
  case pbkdf2(LegacyDigest, rounds: Int)
  /// Firebase scrypt: scrypt derives a key that encrypts the signer key with AES-256-CTR.
  case firebaseScrypt(signerKey: [UInt8], saltSeparator: [UInt8], rounds: Int, memoryCost: Int)
  /// Scrypt (RFC 7914), with the length of the hash.
  case scrypt(cost: Int, blockSize: Int, parallelization: Int)
  /// Bcrypt, whose hashes contain cost and salt.
  case bcrypt
  /// Argon2 (RFC 9106).
  case argon2(Argon2)
  /// Unspecified: each hash contains its algorithm and parameters.
  case selfDescribing
}

/// A hash function used by legacy password tables.
public enum LegacyDigest: String, Sendable, CaseIterable {
  /// MD5, RFC 1321: 16 bytes.
  case md5
  /// SHA-1: 20 bytes.
  case sha1
  /// SHA-256: 32 bytes.
  case sha256
  /// SHA-512: 64 bytes.
  case sha512

  /// The length of the digest in bytes.
  public var length: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }
}

/// The order in which password and salt are hashed.
public enum PasswordOrder: String, Sendable, CaseIterable {
  /// Salt, then password.
  case saltFirst = "sp"
  /// Password, then salt.
  case passwordFirst = "ps"
}

/// The parameters of Argon2.
public struct Argon2: Sendable, Equatable {
  /// The kinds of Argon2.
  public enum Kind: String, Sendable, CaseIterable {
    /// Argon2d.
    case d = "argon2d"
    /// Argon2i.
    case i = "argon2i"
    /// Argon2id.
    case id = "argon2id"
  }

  /// The kind.
  public var kind: Kind
  /// 16 for version 1.0, 19 for version 1.3.
  public var version: Int
  /// Memory in KiB.
  public var memory: Int
  /// Passes over the memory.
  public var passes: Int
  /// Lanes.
  public var lanes: Int
  /// Data hashed along with the password.
  public var associatedData: [UInt8]

  /// Creates parameters without validating them; ``PasswordAlgorithm/init(_:)`` does that.
  public init(
    kind: Kind, version: Int, memory: Int, passes: Int, lanes: Int, associatedData: [UInt8] = []
  ) {
    self.kind = kind
    self.version = version
    self.memory = memory
    self.passes = passes
    self.lanes = lanes
    self.associatedData = associatedData
  }
}

extension Argon2 {
  /// Returns whether a hash with these parameters can be imported.
  var isAffordable: Bool { memory * passes <= PasswordCeiling.memoryWork >> 10 }
}

/// Limits on the cost of imported hashes.
///
/// An import determines the cost of each later sign-in, so the cost is limited.
enum PasswordCeiling {
  /// The maximum memory of scrypt or Argon2, in bytes.
  static let memory = 256 << 20
  /// The maximum work of scrypt, memory times parallelization, and of an imported Argon2 hash,
  /// memory times passes, in bytes.
  static let memoryWork = 1 << 30
  static let bcryptCost = 4...14
  static let pbkdf2Rounds = 1...2_000_000
  static let digestRounds = 1...8_192
  static let md5Rounds = 0...8_192
  static let argon2Passes = 1...16
  static let argon2Lanes = 1...16
  /// The maximum length of a key, salt, separator, or associated data, in bytes.
  static let bytes = 1_024
  /// The minimum length of a derived hash, in bytes: any password has a short one after a few
  /// tries.
  static let shortestHash = 16
  /// The maximum length of a hash, in bytes.
  static let hash = 1_024
}
