import CCrypto

/// Encrypts data with AES-256-GCM (NIST SP 800-38D) for one purpose.
///
/// Each purpose has its own key, derived from the master key by HMAC-SHA-256, so that a box for one
/// purpose can never be opened for another. A box consists of a version, 1 (1 byte), the key ID
/// (4), a random nonce (12), the ciphertext, and the tag (16).
public struct Sealer: Sendable {
  private let derived: DerivedKeys
  private let random: RandomSource
  private static let overhead = 1 + 4 + 12 + 16

  /// Creates a sealer for `purpose`, a short name that never changes.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public init(_ ring: KeyRing, purpose: String, random: RandomSource) throws(CryptoError) {
    derived = try DerivedKeys(ring, label: "countersign sealer: \(purpose)")
    self.random = random
  }

  /// Encrypts `plain`, which can only be decrypted with the same associated data.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func seal(_ plain: [UInt8], with associated: [UInt8]) throws(CryptoError) -> [UInt8] {
    let key = try derived.current()[0]
    let nonce = random.bytes(12)
    let box = [1] + key.idBytes + nonce
    var sealed = [UInt8](repeating: 0, count: plain.count)
    var tag = [UInt8](repeating: 0, count: 16)
    var written: Int32 = 0
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .failed("AES-GCM context") }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    let keyBytes = key.secret.revealedBytes
    guard
      unsafe EVP_EncryptInit_ex(context, Algorithms.aes256GCM.pointer, nil, keyBytes, nonce) == 1,
      unsafe EVP_EncryptUpdate(context, nil, &written, associated, Int32(associated.count)) == 1,
      unsafe EVP_EncryptUpdate(context, &sealed, &written, plain, Int32(plain.count)) == 1,
      unsafe EVP_EncryptFinal_ex(context, &tag, &written) == 1,
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, &tag) == 1
    else { throw .failed("AES-GCM") }
    return box + sealed + tag
  }

  /// Decrypts a box.
  ///
  /// - Throws: ``CryptoError/notAuthentic`` when the box or the associated data was changed,
  ///   ``CryptoError/unknownKey(_:)`` when its key isn't in the ring.
  public func open(_ box: [UInt8], with associated: [UInt8]) throws(CryptoError) -> Secret {
    guard box.count >= Self.overhead, box[0] == 1 else { throw .notAuthentic }
    let id = box[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let key = try derived.current().first(where: { $0.id == id }) else {
      throw .unknownKey(id)
    }
    let nonce = Array(box[5..<17])
    let sealed = Array(box[17..<(box.count - 16)])
    var tag = Array(box.suffix(16))
    var plain = [UInt8](repeating: 0, count: sealed.count)
    var written: Int32 = 0
    var last = [UInt8](repeating: 0, count: 16)
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .failed("AES-GCM context") }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    let keyBytes = key.secret.revealedBytes
    guard
      unsafe EVP_DecryptInit_ex(context, Algorithms.aes256GCM.pointer, nil, keyBytes, nonce) == 1,
      unsafe EVP_DecryptUpdate(context, nil, &written, associated, Int32(associated.count)) == 1,
      unsafe EVP_DecryptUpdate(context, &plain, &written, sealed, Int32(sealed.count)) == 1,
      unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, &tag) == 1,
      unsafe EVP_DecryptFinal_ex(context, &last, &written) == 1
    else { throw .notAuthentic }
    return Secret(plain)
  }

  /// Re-encrypts a box with the newest key.
  ///
  /// - Returns: The new box; nil when it's already encrypted with the newest key.
  /// - Throws: The errors of `open` and `seal`.
  public func resealed(
    _ box: [UInt8], with associated: [UInt8]
  ) throws(CryptoError) -> [UInt8]? {
    guard box.count >= Self.overhead, box[0] == 1 else { throw .notAuthentic }
    let id = box[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard try derived.current()[0].id != id else { return nil }
    return try seal(try open(box, with: associated).revealedBytes, with: associated)
  }
}
