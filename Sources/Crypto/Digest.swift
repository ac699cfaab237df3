import CCrypto

/// A hash function of FIPS 180-4.
public enum HashFunction: String, Sendable, CaseIterable {
  /// SHA-1, 20 bytes; only for HMAC in one-time passwords.
  case sha1 = "SHA1"
  /// SHA-256, 32 bytes.
  case sha256 = "SHA256"
  /// SHA-512, 64 bytes.
  case sha512 = "SHA512"

  /// The length of the digest in bytes.
  public var digestLength: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }

  var method: OpaquePointer? {
    switch self {
    case .sha1: unsafe EVP_sha1()
    case .sha256: unsafe EVP_sha256()
    case .sha512: unsafe EVP_sha512()
    }
  }

  /// Returns the digest of `message`.
  public func digest(_ message: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: digestLength)
    let outcome = unsafe message.withUnsafeBytes { input in
      unsafe result.withUnsafeMutableBufferPointer { output in
        unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, method, nil)
      }
    }
    precondition(outcome == 1, "the digest \(rawValue) is not available in libcrypto")
    return result
  }
}

/// A keyed message authentication code, RFC 2104, ready to be used many times with one key.
@safe public struct HMAC: ~Copyable {
  private let context: OpaquePointer
  private let length: Int

  /// Prepares the code for `key`, which may be of any length.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto lacks the function.
  public init(_ function: HashFunction, key: Secret) throws(CryptoError) {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
      throw .failed("HMAC is not available")
    }
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw .failed("HMAC context") }
    var name = Array(function.rawValue.utf8CString)
    var keyBytes = key.revealedBytes
    // An empty key means "keep the key" to libcrypto; a zero byte is the same key by RFC 2104.
    if keyBytes.isEmpty { keyBytes = [0] }
    let outcome = unsafe name.withUnsafeMutableBufferPointer { name in
      let parameters = unsafe [
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
        OSSL_PARAM_construct_end(),
      ]
      return unsafe EVP_MAC_init(context, keyBytes, keyBytes.count, parameters)
    }
    guard outcome == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      throw .failed("HMAC with \(function.rawValue)")
    }
    unsafe self.context = context
    length = function.digestLength
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Returns the code of `message`.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto refuses, which it does not for any input.
  public mutating func code(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: length)
    try write(codeFor: message, to: &result)
    return result
  }

  /// Writes the code of `message` into `result`, so that many codes need one piece of memory.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto refuses, or `result` is shorter than a code.
  public mutating func write(
    codeFor message: [UInt8], to result: inout [UInt8]
  ) throws(CryptoError) {
    var written = 0
    guard
      unsafe EVP_MAC_init(context, nil, 0, nil) == 1,
      unsafe EVP_MAC_update(context, message, message.count) == 1,
      unsafe EVP_MAC_final(context, &result, &written, result.count) == 1, written == length
    else { throw .failed("HMAC") }
  }

  /// Returns the code of one message with one key.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto refuses.
  public static func code(
    _ function: HashFunction, key: Secret, message: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    var hmac = try HMAC(function, key: key)
    return try hmac.code(for: message)
  }
}
