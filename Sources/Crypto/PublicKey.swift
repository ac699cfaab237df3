import CCrypto

/// A third party's public key for verifying signatures.
///
/// RSA keys of 2048 to 8192 bits verify RS256 (RFC 7518 section 3.3), and P-256 keys verify ES256
/// (section 3.4). Each key has one algorithm, so a signature can't choose it.
public final class PublicKey: Sendable {
  /// The signature algorithm of a key.
  public enum Algorithm: String, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
  }

  // `@unchecked Sendable`, because:
  // 1. the pointer is set once and freed only in `deinit`;
  // 2. libcrypto's own locks make verifying with one EVP_PKEY safe on many threads.
  @safe private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }
  private let handle: Handle

  /// The algorithm of the key.
  public let algorithm: Algorithm

  /// The reason that a key can't be used.
  public enum Fault: Error, Sendable, Equatable {
    /// A private key, which must not be shared.
    case isPrivate
    /// Not a public key.
    case unreadable
    /// An RSA key that is too short or too long, or has an unsafe exponent.
    case unusable
    /// Another kind of key, or another curve.
    case otherKind
  }

  /// The minimum length of the modulus, in bits.
  public static let shortest = 2_048
  /// The maximum length of the modulus, in bits; longer ones slow down verification.
  public static let longest = 8_192

  private init(taking pointer: OpaquePointer?) throws(Fault) {
    guard let pointer = unsafe pointer else {
      ERR_clear_error()
      throw .unreadable
    }
    do throws(Fault) {
      algorithm = try unsafe Self.algorithm(of: pointer)
    } catch {
      unsafe EVP_PKEY_free(pointer)
      throw error
    }
    handle = unsafe Handle(pointer: pointer)
  }

  deinit { unsafe EVP_PKEY_free(handle.pointer) }

  private static func algorithm(of pointer: OpaquePointer) throws(Fault) -> Algorithm {
    if unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 {
      guard (shortest...longest).contains(Int(unsafe EVP_PKEY_get_bits(pointer))) else {
        throw .unusable
      }
      // A long exponent makes verification as slow as signing, and 1 verifies nothing.
      guard let exponent = try? unsafe number(OSSL_PKEY_PARAM_RSA_E, of: pointer),
        exponent.count <= 8, exponent != [1], (exponent.last ?? 0) & 1 == 1
      else { throw .unusable }
      return .rs256
    }
    guard unsafe EVP_PKEY_is_a(pointer, "EC") == 1, unsafe curve(of: pointer) == "prime256v1"
    else { throw .otherKind }
    return .es256
  }

  private static func curve(of pointer: OpaquePointer) -> String? {
    var name = [CChar](repeating: 0, count: 80)
    var count = 0
    guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else {
      return nil
    }
    return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Parses a DER SubjectPublicKeyInfo structure (RFC 5280 section 4.1.2.7).
  ///
  /// - Throws: ``Fault``.
  public convenience init(der: [UInt8]) throws(Fault) {
    let pointer = unsafe der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_PUBKEY(nil, &start, buffer.count)
    }
    try unsafe self.init(taking: pointer)
  }

  /// Parses one PEM public key or X.509 certificate (RFC 7468).
  ///
  /// - Throws: ``Fault``.
  public convenience init(pem: String) throws(Fault) {
    guard !pem.contains("PRIVATE KEY") else { throw .isPrivate }
    let bytes = Array(pem.utf8)
    let pointer: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count))
      else { return nil }
      defer { unsafe BIO_free(bio) }
      guard pem.contains("BEGIN CERTIFICATE") else {
        return unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil)
      }
      guard let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) else { return nil }
      defer { unsafe X509_free(certificate) }
      return unsafe X509_get_pubkey(certificate)
    }
    try unsafe self.init(taking: pointer)
  }

  /// Creates an RSA key from its numbers, big-endian (RFC 7518 section 6.3.1).
  ///
  /// - Throws: ``Fault``.
  public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(Fault) {
    guard modulus.count <= Self.longest / 8 + 1, exponent.count <= 8 else { throw .unusable }
    let key = DER.sequence([DER.integer(modulus), DER.integer(exponent)])
    // rsaEncryption, 1.2.840.113549.1.1.1, whose parameters are NULL.
    let kind: [UInt8] = [
      0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    try self.init(der: DER.sequence([DER.sequence([kind]), DER.bits(key)]))
  }

  /// Creates a P-256 key from its point, 32 bytes per coordinate (RFC 7518 section 6.2.1).
  ///
  /// - Throws: ``Fault``, including for a point that isn't on the curve.
  public convenience init(x: [UInt8], y: [UInt8]) throws(Fault) {
    guard x.count == 32, y.count == 32 else { throw .unreadable }
    // ecPublicKey, 1.2.840.10045.2.1, on prime256v1, 1.2.840.10045.3.1.7.
    let kind: [UInt8] = [
      0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
      0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    try self.init(der: DER.sequence([DER.sequence([kind]), DER.bits([4] + x + y)]))
  }

  /// Returns the key as DER SubjectPublicKeyInfo, identical for the same key in any input form.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func der() throws(CryptoError) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_PUBKEY(handle.pointer, &buffer)
    guard count > 0, let buffer = unsafe buffer else { throw .failed("public key as DER") }
    defer { unsafe CRYPTO_free(buffer, #fileID, #line) }
    return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
  }

  /// Returns the modulus and exponent of an RSA key, big-endian without leading zeros.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` for another kind of key.
  public func numbers() throws(CryptoError) -> (modulus: [UInt8], exponent: [UInt8]) {
    guard algorithm == .rs256 else { throw .failed("not an RSA key") }
    return (
      try unsafe Self.number(OSSL_PKEY_PARAM_RSA_N, of: handle.pointer),
      try unsafe Self.number(OSSL_PKEY_PARAM_RSA_E, of: handle.pointer)
    )
  }

  /// Returns the point of a P-256 key, 32 bytes per coordinate.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` for another kind of key.
  public func point() throws(CryptoError) -> (x: [UInt8], y: [UInt8]) {
    guard algorithm == .es256 else { throw .failed("not a key on P-256") }
    func padded(_ bytes: [UInt8]) -> [UInt8] {
      [UInt8](repeating: 0, count: max(0, 32 - bytes.count)) + bytes
    }
    return (
      padded(try unsafe Self.number(OSSL_PKEY_PARAM_EC_PUB_X, of: handle.pointer)),
      padded(try unsafe Self.number(OSSL_PKEY_PARAM_EC_PUB_Y, of: handle.pointer))
    )
  }

  /// Returns a number of a key, big-endian without leading zeros.
  static func number(
    _ name: String, of pointer: OpaquePointer
  ) throws(CryptoError) -> [UInt8] {
    var value: OpaquePointer?
    guard unsafe EVP_PKEY_get_bn_param(pointer, name, &value) == 1, let value = unsafe value
    else { throw .failed("numbers of a key") }
    defer { unsafe BN_free(value) }
    var bytes = [UInt8](repeating: 0, count: Int(unsafe (BN_num_bits(value) + 7) / 8))
    guard unsafe BN_bn2bin(value, &bytes) == Int32(bytes.count) else {
      throw .failed("numbers of a key")
    }
    return bytes
  }

  /// Verifies a signature of `message` in the format of JSON Web Tokens.
  public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard algorithm == .es256 else { return verify(der: signature, of: message) }
    // RFC 7518 section 3.4: both numbers concatenated; libcrypto expects DER.
    guard signature.count == 64 else { return false }
    let numbers = [DER.integer(Array(signature[..<32])), DER.integer(Array(signature[32...]))]
    return verify(der: DER.sequence(numbers), of: message)
  }

  /// Verifies a signature of `message` in the format of X.509 and WebAuthn: the numbers of ES256 as
  /// DER (RFC 3279 section 2.2.3).
  public func verify(der signature: [UInt8], of message: [UInt8]) -> Bool {
    unsafe Self.verify(signature, of: message, with: handle.pointer, EVP_sha256())
  }

  /// Verifies a signature; the digest is nil if the algorithm has its own.
  static func verify(
    _ signature: [UInt8], of message: [UInt8], with key: OpaquePointer, _ digest: OpaquePointer?
  ) -> Bool {
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
    let outcome = unsafe EVP_DigestVerify(
      context, signature, signature.count, message, message.count)
    if outcome != 1 { ERR_clear_error() }
    return outcome == 1
  }
}

/// The subset of DER (ITU-T X.690) used by keys and signatures.
private enum DER {
  static func sequence(_ parts: [[UInt8]]) -> [UInt8] { tagged(0x30, parts.flatMap { $0 }) }

  static func bits(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }

  /// Encodes a nonnegative integer from big-endian bytes.
  static func integer(_ bytes: [UInt8]) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    if digits.isEmpty || digits[0] & 0x80 != 0 { digits.insert(0, at: 0) }
    return tagged(0x02, digits)
  }

  private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] =
      switch count {
      case ..<0x80: [UInt8(count)]
      case ..<0x100: [0x81, UInt8(count)]
      default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
      }
    return [tag] + length + content
  }
}
