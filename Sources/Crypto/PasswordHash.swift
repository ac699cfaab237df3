import CArgon2

/// A password hash with its algorithm and parameters, such as `$argon2id$v=19$m=…$salt$hash`.
///
/// New hashes are Argon2id; imported hashes keep their algorithm until the user signs in.
///
/// Source: RFC 9106; the cost is OWASP's second choice for Argon2id (m = 19,456 KiB, t = 2, p = 1).
public struct PasswordHash: Sendable, Equatable {
  /// The encoded text to store, which must not be displayed.
  public let encoded: String

  /// Creates a hash from stored text.
  public init(encoded: String) { self.encoded = encoded }

  /// The cost of a hash.
  public struct Cost: Sendable, Equatable {
    /// Memory in KiB.
    public var memory: UInt32
    /// Passes over the memory.
    public var passes: UInt32

    /// Creates a cost of `memory` KiB and `passes`.
    public init(memory: UInt32, passes: UInt32) {
      self.memory = memory
      self.passes = passes
    }

    /// The cost of new hashes.
    public static let current = Cost(memory: 19_456, passes: 2)
  }

  /// Returns whether the hash has another algorithm or cost than new hashes.
  public func needsUpgrade(to cost: Cost = .current) -> Bool {
    !encoded.hasPrefix("$argon2id$v=19$m=\(cost.memory),t=\(cost.passes),p=1$")
  }

  /// Hashes `password` with a new 16-byte salt.
  ///
  /// Blocks for about 15 ms at the current cost, so call it through ``PasswordHasher``.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when there isn't enough memory.
  static func make(
    _ password: Secret, cost: Cost, random: RandomSource
  ) throws(CryptoError) -> PasswordHash {
    let salt = random.bytes(16)
    let bytes = password.revealedBytes
    var text = [CChar](repeating: 0, count: 128)
    let outcome = unsafe argon2id_hash_encoded(
      cost.passes, cost.memory, 1, bytes, bytes.count, salt, salt.count, 32, &text, text.count)
    guard outcome == 0 else { throw .failed("Argon2id") }
    let ended = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return PasswordHash(encoded: String(decoding: ended, as: UTF8.self))
  }

  /// Verifies a password in constant time; returns false for a hash that can't be parsed.
  ///
  /// Blocks like `make`, or longer for imported hashes with a higher cost.
  func matches(_ password: Secret) -> Bool {
    if encoded.hasPrefix("$2") {
      return Derivation.matchesBcrypt(password.revealedBytes, encoded)
    }
    return HashText(encoded)?.matches(password) ?? false
  }
}

extension PasswordHash {
  /// The work of verifying a password, in KiB that Argon2 fills, of about half a microsecond each.
  ///
  /// Estimated from the algorithm's parameters, so that it's known before the hash is computed.
  var work: Int {
    if let cost = Bcrypt.cost(of: encoded) { return 90 << cost }
    guard let text = HashText(encoded) else { return 1 }
    return text.algorithm.work(length: text.hash.count)
  }

  /// The most work of a sign-in that isn't costly: ten times that of a new hash.
  static let ordinaryWork = 10 * Cost.current.work
}

extension PasswordHash.Cost {
  /// The work of a hash of this cost, in the same unit as ``PasswordHash/work``.
  var work: Int { Int(memory) * Int(passes) }
}

extension PasswordAlgorithm {
  /// The work of computing `length` bytes, in the same unit as ``PasswordHash/work``.
  ///
  /// The factors were measured with libcrypto 3, libargon2, and libcrypt.
  func work(length: Int) -> Int {
    switch self {
    case .hmac: 1
    case .digest(_, let rounds, _): 2 * max(rounds, 1)
    case .pbkdf2(let digest, let rounds):
      max(rounds, 1) * ((length + digest.length - 1) / digest.length)
    case .firebaseScrypt(_, _, let rounds, let cost): 4 * (rounds << cost) / 8
    case .scrypt(let cost, let blockSize, let lanes): 4 * (cost * blockSize / 8) * lanes
    case .argon2(let argon2): argon2.memory * argon2.passes
    case .bcrypt, .selfDescribing: 1
    }
  }
}

/// The reason that an imported hash is rejected.
public enum ImportedHashError: Error, Equatable, Sendable {
  /// The hash is empty.
  case empty
  /// The hash doesn't have the algorithm's format or length.
  case malformed
  /// The salt is missing, too short, or too long.
  case salt
  /// Verifying the hash would cost more than allowed.
  case tooExpensive
}

extension PasswordHash {
  /// Creates a password hash from an imported one.
  ///
  /// A text with its own algorithm, without a separate salt or with the one in it, is read as such
  /// whatever algorithm is given, because an export can contain both kinds of hashes.
  ///
  /// - Parameters:
  ///   - hash: The bytes; for MD5 and SHA, also those of the hexadecimal text.
  ///   - salt: The salt; empty when there's none.
  ///   - algorithm: The algorithm and its parameters.
  /// - Throws: ``ImportedHashError``.
  public init(
    _ hash: [UInt8], salt: [UInt8], by algorithm: PasswordAlgorithm
  ) throws(ImportedHashError) {
    if Self.isTelling(hash), salt.isEmpty || salt == Self.salt(in: hash) {
      try self.init(telling: hash)
    } else {
      try self.init(given: hash, salt: salt, by: algorithm)
    }
  }

  /// Creates a hash by an algorithm, whatever its bytes look like.
  private init(
    given hash: [UInt8], salt: [UInt8], by algorithm: PasswordAlgorithm
  ) throws(ImportedHashError) {
    guard !hash.isEmpty else { throw .empty }
    guard salt.count <= PasswordCeiling.bytes else { throw .salt }
    guard hash.count <= PasswordCeiling.hash else { throw .malformed }
    var hash = hash
    switch algorithm {
    case .selfDescribing:
      try self.init(telling: hash)
      return
    case .bcrypt:
      self.init(encoded: try Self.bcrypt(hash))
      return
    case .hmac(let digest, _, _), .digest(let digest, _, _):
      if hash.count == 2 * digest.length, let bytes = Hex.decode(hash) { hash = bytes }
      guard hash.count == digest.length, !Self.isText(hash) else { throw .malformed }
    case .pbkdf2(let digest, let rounds):
      guard hash.count >= PasswordCeiling.shortestHash, !Self.isText(hash) else {
        throw .malformed
      }
      // Each block of the hash takes all rounds.
      let blocks = (hash.count + digest.length - 1) / digest.length
      guard rounds * blocks <= PasswordCeiling.pbkdf2Rounds.upperBound else { throw .tooExpensive }
    case .firebaseScrypt(let key, _, _, _):
      guard hash.count == key.count else { throw .malformed }
    case .scrypt:
      guard hash.count >= PasswordCeiling.shortestHash, !Self.isText(hash) else {
        throw .malformed
      }
    case .argon2(let argon2):
      guard argon2.isAffordable else { throw .tooExpensive }
      guard salt.count >= 8 else { throw .salt }
      guard hash.count >= 4, !Self.isText(hash) else { throw .malformed }
    }
    self.init(encoded: HashText(algorithm: algorithm, salt: salt, hash: hash).encoded)
  }

  /// Returns whether the bytes of a derived hash are text, such as its base64 or that of a whole
  /// password table's entry, which no password would match; one derived hash in three billion is.
  private static func isText(_ hash: [UInt8]) -> Bool {
    hash.count >= 22 && hash.allSatisfy { 0x20...0x7E ~= $0 || $0 == 0x0A || $0 == 0x0D }
  }

  /// Creates a hash from a text with its algorithm: a hash stored and exported by this server, a
  /// bcrypt hash, or one from Argon2's reference implementation.
  private init(telling bytes: [UInt8]) throws(ImportedHashError) {
    let text = String(decoding: bytes, as: UTF8.self)
    if text.hasPrefix("$2") {
      self.init(encoded: try Self.bcrypt(bytes))
      return
    }
    guard let read = HashText(text) else { throw .malformed }
    try self.init(given: read.hash, salt: read.salt, by: read.algorithm)
  }

  /// Returns whether the bytes are a complete text with its algorithm, which a hash of another
  /// algorithm can't be by chance.
  private static func isTelling(_ bytes: [UInt8]) -> Bool {
    guard bytes.first == UInt8(ascii: "$"), bytes.count <= PasswordCeiling.hash else {
      return false
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return Bcrypt.cost(of: text) != nil || HashText(text) != nil
  }

  private static func bcrypt(_ bytes: [UInt8]) throws(ImportedHashError) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let cost = Bcrypt.cost(of: text) else { throw .malformed }
    guard PasswordCeiling.bcryptCost.contains(cost) else { throw .tooExpensive }
    return text
  }

  /// Creates a hash from the placeholder that Google's emulator uses, `fakeHash:salt=…:password=…`,
  /// by hashing the password in it.
  ///
  /// Nil for anything else. The placeholder protects nothing, so only the emulator profile may
  /// accept it.
  public init?(emulatorText text: String, random: RandomSource) {
    let head = "fakeHash:salt="
    let middle = ":password="
    guard text.hasPrefix(head), let place = text.firstRange(of: middle) else { return nil }
    let password = Array(text[place.upperBound...].utf8)
    let salt = random.bytes(16)
    let hash = HashFunction.sha256.digest(salt + password)
    self.init(
      encoded: HashText(
        algorithm: .digest(.sha256, rounds: 1, order: .saltFirst), salt: salt, hash: hash
      ).encoded)
  }

  /// The hash and its salt, in the form in which they can be exported and imported again.
  ///
  /// The hash of Firebase scrypt is that alone; any other is the text with its algorithm.
  public var exported: (hash: [UInt8], salt: [UInt8]) {
    let telling = Array(encoded.utf8)
    guard let text = HashText(encoded) else { return (telling, Self.salt(in: telling)) }
    return (encoded.hasPrefix("$firebase-scrypt$") ? text.hash : telling, text.salt)
  }

  /// Returns the salt in a text with its algorithm; for bcrypt, its 22 characters.
  private static func salt(in telling: [UInt8]) -> [UInt8] {
    let text = String(decoding: telling, as: UTF8.self)
    if Bcrypt.cost(of: text) != nil { return Array(telling.dropFirst(7).prefix(22)) }
    return HashText(text)?.salt ?? []
  }
}
