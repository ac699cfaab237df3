import CCrypto

/// An RSA key pair for RS256 signatures (RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 section 3.3).
public final class RSAKey: Sendable {
  // `@unchecked Sendable`, because:
  // 1. the pointer is set once and freed only in `deinit`;
  // 2. libcrypto's own locks make signing with one EVP_PKEY safe on many threads.
  @safe private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }
  private let handle: Handle

  private init(_ pointer: OpaquePointer) { handle = unsafe Handle(pointer: pointer) }
  deinit { unsafe EVP_PKEY_free(handle.pointer) }

  /// Generates a key of `bits` (2048 or more).
  ///
  /// Takes about 0.1 s at 2048 bits.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public static func generate(bits: Int = 2048) throws(CryptoError) -> RSAKey {
    guard let pointer = unsafe countersign_rsa_generate(bits) else { throw .failed("RSA key") }
    return unsafe RSAKey(pointer)
  }

  /// Parses a private key from DER.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for anything but a private RSA key.
  public init(privateDER: Secret) throws(CryptoError) {
    let bytes = privateDER.revealedBytes
    let pointer = unsafe bytes.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &start, buffer.count)
    }
    guard let pointer = unsafe pointer, unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 else {
      throw .malformed("not a private RSA key")
    }
    handle = unsafe Handle(pointer: pointer)
  }

  /// Returns the private key as DER.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func privateDER() throws(CryptoError) -> Secret {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_PrivateKey(handle.pointer, &buffer)
    guard count > 0, let buffer = unsafe buffer else { throw .failed("RSA key as DER") }
    defer { unsafe CRYPTO_clear_free(buffer, Int(count), #fileID, #line) }
    return Secret(unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(count))))
  }

  /// Signs `message` with RS256.
  ///
  /// Takes about 0.7 ms at 2048 bits.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .failed("signature context") }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(handle.pointer)))
    var count = signature.count
    guard
      unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { throw .failed("RS256") }
    return Array(signature.prefix(count))
  }

  /// Verifies an RS256 signature of `message`.
  public func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    unsafe PublicKey.verify(signature, of: message, with: handle.pointer, EVP_sha256())
  }

  /// Returns the modulus and the public exponent, big-endian without leading zeros.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func publicNumbers() throws(CryptoError) -> (modulus: [UInt8], exponent: [UInt8]) {
    (
      try unsafe PublicKey.number(OSSL_PKEY_PARAM_RSA_N, of: handle.pointer),
      try unsafe PublicKey.number(OSSL_PKEY_PARAM_RSA_E, of: handle.pointer)
    )
  }

  /// Returns a self-signed X.509 certificate (PEM) with the public key, issued to `commonName` and
  /// valid from a day before `from` until `until` (both in seconds since 1970).
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func certificatePEM(
    commonName: String, serial: Int64, from: Int64, until: Int64
  ) throws(CryptoError) -> String {
    guard let certificate = unsafe X509_new() else { throw .failed("certificate") }
    defer { unsafe X509_free(certificate) }
    let name = unsafe X509_get_subject_name(certificate)
    let bytes = Array(commonName.utf8)
    guard
      unsafe X509_set_version(certificate, 2) == 1,
      unsafe ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial) == 1,
      unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(from - 86_400)) != nil,
      unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(until)) != nil,
      unsafe X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_FLAG | 0, bytes, Int32(bytes.count), -1, 0) == 1,
      unsafe X509_set_issuer_name(certificate, name) == 1,
      unsafe X509_set_pubkey(certificate, handle.pointer) == 1,
      unsafe X509_sign(certificate, handle.pointer, EVP_sha256()) > 0,
      let bio = unsafe BIO_new(BIO_s_mem())
    else { throw .failed("certificate") }
    defer { unsafe BIO_free(bio) }
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe PEM_write_bio_X509(bio, certificate) == 1 else { throw .failed("certificate") }
    let count = unsafe countersign_bio_bytes(bio, &text)
    guard count > 0, let text = unsafe text else { throw .failed("certificate") }
    return unsafe UnsafeRawBufferPointer(start: text, count: count).withMemoryRebound(
      to: UInt8.self
    ) {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }
}
