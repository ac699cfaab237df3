import CArgon2

/// A password hash with its algorithm and parameters in one text, as `$argon2id$v=19$m=…$salt$hash`.
///
/// New ones are Argon2id; those of imported users are what they were until the user signs in.
///
/// Source: RFC 9106; the cost is OWASP's second choice for Argon2id (m = 19 456 KiB, t = 2, p = 1).
public struct PasswordHash: Sendable, Equatable {
  /// The encoded text, to be stored.
  ///
  /// It is not shown or exported.
  public let encoded: String

  /// Takes a stored text as it is.
  public init(encoded: String) { self.encoded = encoded }

  /// What a hash costs.
  public struct Cost: Sendable, Equatable {
    /// Memory in KiB.
    public var memory: UInt32
    /// Passes over the memory.
    public var passes: UInt32

    /// Makes a cost of `memory` KiB and `passes`.
    public init(memory: UInt32, passes: UInt32) {
      self.memory = memory
      self.passes = passes
    }

    /// The cost that new hashes have.
    public static let current = Cost(memory: 19_456, passes: 2)
  }

  /// True when the text was not made by the algorithm and cost of today.
  public func needsUpgrade(to cost: Cost = .current) -> Bool {
    !encoded.hasPrefix("$argon2id$v=19$m=\(cost.memory),t=\(cost.passes),p=1$")
  }

  /// Hashes `password` with a new salt of 16 bytes.
  ///
  /// Blocks for about 15 ms at the current cost: call it through ``PasswordHasher``.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when there is no memory for it.
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

  /// True when it was made by the algorithm that new hashes have, at whatever cost.
  var isOwn: Bool { encoded.hasPrefix("$argon2id$") }

  /// Compares in constant time; false for a text that cannot be read.
  ///
  /// Blocks like `make`, or longer where a hash was imported with a higher cost.
  func matches(_ password: Secret) -> Bool {
    if encoded.hasPrefix("$2") {
      return Derivation.matchesBcrypt(password.revealedBytes, encoded)
    }
    return HashText(encoded)?.matches(password) ?? false
  }
}
