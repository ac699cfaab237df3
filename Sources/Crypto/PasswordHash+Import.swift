/// Why a hash that is imported is not taken.
public enum ImportedHashError: Error, Equatable, Sendable {
  /// There are no bytes in it.
  case empty
  /// It does not have the form or the length that the algorithm gives.
  case malformed
  /// Its salt is missing, too short or too long.
  case salt
  /// Checking it would cost more than is allowed.
  case tooDear
}

extension PasswordHash {
  /// Takes a hash that was made elsewhere.
  ///
  /// - Parameters:
  ///   - hash: Its bytes; of an MD5 or SHA, those of its hexadecimal text do as well.
  ///   - salt: The salt, empty where there was none.
  ///   - algorithm: How it was made.
  /// - Throws: ``ImportedHashError``.
  public init(
    _ hash: [UInt8], salt: [UInt8], by algorithm: PasswordAlgorithm
  ) throws(ImportedHashError) {
    guard !hash.isEmpty else { throw .empty }
    guard salt.count <= PasswordCeiling.bytes else { throw .salt }
    guard hash.count <= PasswordCeiling.hash else { throw .malformed }
    var hash = hash
    switch algorithm {
    case .told:
      try self.init(telling: hash)
      return
    case .bcrypt:
      self.init(encoded: try Self.bcrypt(hash))
      return
    case .hmac(let digest, _, _), .digest(let digest, _, _):
      if hash.count == 2 * digest.length, let bytes = Hex.decode(hash) { hash = bytes }
      guard hash.count == digest.length else { throw .malformed }
    case .pbkdf2: break
    case .firebaseScrypt(let key, _, _, _):
      guard hash.count == key.count else { throw .malformed }
    case .scrypt: break
    case .argon2:
      guard salt.count >= 8 else { throw .salt }
      guard hash.count >= 4 else { throw .malformed }
    }
    self.init(encoded: HashText(algorithm: algorithm, salt: salt, hash: hash).encoded)
  }

  /// Takes a text that says how it was made: those that this server stores and exports, bcrypt's,
  /// and the one of Argon2's reference implementation.
  private init(telling bytes: [UInt8]) throws(ImportedHashError) {
    let text = String(decoding: bytes, as: UTF8.self)
    if text.hasPrefix("$2") {
      self.init(encoded: try Self.bcrypt(bytes))
      return
    }
    guard let read = HashText(text) else { throw .malformed }
    try self.init(read.hash, salt: read.salt, by: read.algorithm)
  }

  private static func bcrypt(_ bytes: [UInt8]) throws(ImportedHashError) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let cost = Bcrypt.cost(of: text) else { throw .malformed }
    guard PasswordCeiling.bcryptCost.contains(cost) else { throw .tooDear }
    return text
  }

  /// The stand-in for a hash that Google's emulator makes, `fakeHash:salt=…:password=…`: the
  /// password in it, hashed once, which is more than the text did.
  ///
  /// Nil for anything else. It protects nothing, so only the emulator profile may take it.
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

  /// The bytes of a hash and of its salt where it is Firebase's scrypt, in whose own form it can be
  /// handed on; nil for all others.
  public var firebaseScrypt: (hash: [UInt8], salt: [UInt8])? {
    guard encoded.hasPrefix("$firebase-scrypt$"), let text = HashText(encoded) else { return nil }
    return (text.hash, text.salt)
  }
}
