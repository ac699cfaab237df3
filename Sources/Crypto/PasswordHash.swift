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
