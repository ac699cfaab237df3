import Synchronization

/// The keys of one purpose, which HMAC-SHA-256 derives from the master keys, newest first.
///
/// They're derived again when the ring changes.
final class DerivedKeys: Sendable {
  struct Key: Sendable {
    /// The ID of the master key.
    let id: UInt32
    let secret: Secret

    /// The ID as four bytes, the most significant first.
    var idBytes: [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> UInt32($0)) }
    }
  }

  private struct Kept: Sendable {
    let generation: Int
    let keys: [Key]
  }

  private let ring: KeyRing
  private let label: String
  private let kept: Mutex<Kept>

  /// Derives the keys for a label, which contains the purpose and never changes.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  init(_ ring: KeyRing, label: String) throws(CryptoError) {
    self.ring = ring
    self.label = label
    kept = Mutex(try Self.derive(ring.keys, label))
  }

  /// Returns the keys of the ring's present keys.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  func current() throws(CryptoError) -> [Key] {
    let known = kept.withLock { $0 }
    guard known.generation != ring.generation else { return known.keys }
    let new = try Self.derive(ring.keys, label)
    kept.withLock { $0 = new }
    return new.keys
  }

  private static func derive(_ held: KeyRing.Keys, _ label: String) throws(CryptoError) -> Kept {
    var keys: [Key] = []
    for key in held.keys {
      let derived = try HMAC.code(.sha256, key: key.secret, message: Array(label.utf8))
      keys.append(Key(id: key.id, secret: Secret(derived)))
    }
    return Kept(generation: held.generation, keys: keys)
  }
}
