/// Digests secrets for one purpose, so that equal ones are found without being decrypted.
///
/// A digest consists of the ID of the newest master key (4 bytes) and the first half of an
/// HMAC-SHA-256 (16). Only digests under the same key can be compared. Without the key, a digest
/// shows only whether it equals another one.
public struct KeyedDigest: Sendable {
  private let derived: DerivedKeys

  /// Creates digests for `purpose`, a short name that never changes.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public init(_ ring: KeyRing, purpose: String) throws(CryptoError) {
    derived = try DerivedKeys(ring, label: "countersign digest: \(purpose)")
  }

  /// Returns the digest of a message under the newest key.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func digest(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let key = try derived.current()[0]
    return key.idBytes + (try HMAC.code(.sha256, key: key.secret, message: message)).prefix(16)
  }

  /// Returns whether a digest is under the newest key.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func isCurrent(_ digest: [UInt8]) throws(CryptoError) -> Bool {
    digest.starts(with: try derived.current()[0].idBytes)
  }
}
