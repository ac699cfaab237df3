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
  /// A text with its own algorithm, and without a separate salt, is read as such whatever algorithm
  /// is given, because an export can contain both kinds of hashes.
  ///
  /// - Parameters:
  ///   - hash: The bytes; for MD5 and SHA, also those of the hexadecimal text.
  ///   - salt: The salt; empty when there's none.
  ///   - algorithm: The algorithm and its parameters.
  /// - Throws: ``ImportedHashError``.
  public init(
    _ hash: [UInt8], salt: [UInt8], by algorithm: PasswordAlgorithm
  ) throws(ImportedHashError) {
    if salt.isEmpty, Self.isTelling(hash) {
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

  /// The hash and salt of Firebase scrypt, in a form that can be exported; nil for other
  /// algorithms.
  public var firebaseScrypt: (hash: [UInt8], salt: [UInt8])? {
    guard encoded.hasPrefix("$firebase-scrypt$"), let text = HashText(encoded) else { return nil }
    return (text.hash, text.salt)
  }
}
