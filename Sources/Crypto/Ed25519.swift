import CCrypto

/// An Ed25519 key pair for signatures (RFC 8032 section 5.1).
public struct Ed25519PrivateKey: Sendable {
  /// The length of the private key, in bytes.
  public static let length = 32

  /// The private key, from which the public one follows.
  public let seed: Secret
  /// The public key.
  public let publicKey: Ed25519PublicKey

  /// Creates a key pair from 32 random bytes.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for another length.
  public init(seed: Secret) throws(CryptoError) {
    guard seed.count == Self.length else { throw .malformed("not an Ed25519 private key") }
    self.seed = seed
    guard let pointer = unsafe Self.pointer(seed) else { throw .failed("Ed25519 key") }
    defer { unsafe EVP_PKEY_free(pointer) }
    var bytes = [UInt8](repeating: 0, count: Ed25519PublicKey.length)
    var count = bytes.count
    guard unsafe EVP_PKEY_get_raw_public_key(pointer, &bytes, &count) == 1,
      let key = Ed25519PublicKey(bytes: bytes)
    else { throw .failed("Ed25519 public key") }
    publicKey = key
  }

  /// Returns the signature of `message`, 64 bytes.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let pointer = unsafe Self.pointer(seed) else { throw .failed("Ed25519 key") }
    defer { unsafe EVP_PKEY_free(pointer) }
    guard let context = unsafe EVP_MD_CTX_new() else { throw .failed("signature context") }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    guard
      unsafe EVP_DigestSignInit(context, nil, nil, nil, pointer) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { throw .failed("Ed25519") }
    return signature
  }

  private static func pointer(_ seed: Secret) -> OpaquePointer? {
    let bytes = seed.revealedBytes
    return unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
  }
}

/// An Ed25519 public key (RFC 8032 section 5.1).
public struct Ed25519PublicKey: Hashable, Sendable {
  /// The length of the key, in bytes.
  public static let length = 32
  /// The start of a SubjectPublicKeyInfo structure with this kind of key (RFC 8410 section 4).
  private static let prefix: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]
  private static let begin = "-----BEGIN PUBLIC KEY-----"
  private static let end = "-----END PUBLIC KEY-----"

  /// The encoded point.
  public let bytes: [UInt8]

  /// Creates a key from its encoded point; nil for another length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// Parses all PEM public keys of a text; other blocks, and text around them, are ignored (RFC
  /// 7468 section 2).
  public static func all(pem text: String) -> [Ed25519PublicKey] {
    let mark = "-----BEGIN"
    return text.split(separator: mark).compactMap { Ed25519PublicKey(pem: mark + $0) }
  }

  /// Parses a PEM public key (RFC 7468); nil for another kind of key.
  public init?(pem: String) {
    let lines = pem.split(whereSeparator: \.isNewline).map { line in
      line.filter { !$0.isWhitespace }
    }
    let marks = (Self.begin.filter { $0 != " " }, Self.end.filter { $0 != " " })
    guard let start = lines.firstIndex(of: marks.0),
      let stop = lines[start...].firstIndex(of: marks.1),
      let der = Base64URL.decode(lines[(start + 1)..<stop].joined()),
      der.starts(with: Self.prefix)
    else { return nil }
    self.init(bytes: Array(der.dropFirst(Self.prefix.count)))
  }

  /// The DER SubjectPublicKeyInfo structure.
  public var der: [UInt8] { Self.prefix + bytes }

  /// The PEM form, with a line break at the end.
  public var pem: String { "\(Self.begin)\n\(Base64URL.encodeStandard(der))\n\(Self.end)\n" }

  /// The SHA-256 digest of the DER structure in lowercase hexadecimal digits.
  public var fingerprint: String { Hex.encode(HashFunction.sha256.digest(der)) }

  /// Verifies a signature of `message`.
  public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard
      let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
    else {
      ERR_clear_error()
      return false
    }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe PublicKey.verify(signature, of: message, with: key, nil)
  }
}
