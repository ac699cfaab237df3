import CCrypto

/// A hash function (FIPS 180-4).
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

  private var algorithm: Algorithms.Shared {
    switch self {
    case .sha1: Algorithms.sha1
    case .sha256: Algorithms.sha256
    case .sha512: Algorithms.sha512
    }
  }

  /// The HMAC context that only needs a key.
  fileprivate var hmac: Algorithms.Shared {
    switch self {
    case .sha1: Algorithms.hmacSHA1
    case .sha256: Algorithms.hmacSHA256
    case .sha512: Algorithms.hmacSHA512
    }
  }

  /// Returns the digest of `message`.
  public func digest(_ message: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: digestLength)
    let method = unsafe algorithm.pointer
    let outcome = unsafe message.withUnsafeBytes { input in
      unsafe result.withUnsafeMutableBufferPointer { output in
        unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, method, nil)
      }
    }
    precondition(outcome == 1, "the digest \(rawValue) is not available in libcrypto")
    return result
  }

  /// Returns the expression with which a content security policy allows an inline script or style:
  /// its SHA-256 digest (Content Security Policy Level 3, section 2.3.1).
  public static func policySource(_ text: String) -> String {
    "'sha256-\(Base64URL.encodeStandard(sha256.digest(Array(text.utf8))))'"
  }
}

/// A keyed message authentication code (RFC 2104) that can be used many times with one key.
@safe public struct HMAC: ~Copyable {
  private let context: OpaquePointer
  private let length: Int

  /// Creates an HMAC with `key`, which can have any length.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto lacks the function.
  public init(_ function: HashFunction, key: Secret) throws(CryptoError) {
    guard let prepared = unsafe function.hmac.pointer,
      let context = unsafe EVP_MAC_CTX_dup(prepared)
    else { throw .failed("HMAC with \(function.rawValue) is not available") }
    var keyBytes = key.revealedBytes
    // libcrypto interprets an empty key as "keep the key"; a zero byte is equivalent in RFC 2104.
    if keyBytes.isEmpty { keyBytes = [0] }
    guard unsafe EVP_MAC_init(context, keyBytes, keyBytes.count, nil) == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      throw .failed("HMAC with \(function.rawValue)")
    }
    unsafe self.context = context
    length = function.digestLength
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Returns the code of `message`.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails, which no input causes.
  public mutating func code(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: length)
    try write(codeFor: message, to: &result)
    return result
  }

  /// Writes the code of `message` to `result`, so that many codes can share memory.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails, or `result` is shorter than a code.
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
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public static func code(
    _ function: HashFunction, key: Secret, message: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    var hmac = try HMAC(function, key: key)
    return try hmac.code(for: message)
  }
}

/// The libcrypto algorithms used by requests, fetched once.
///
/// Otherwise libcrypto fetches an algorithm by name, under a lock, on each use. Algorithms that
/// aren't available are nil, and their users throw an error.
enum Algorithms {
  // `@unchecked Sendable`, because:
  // 1. the pointers are set once, and what they point to is never freed or changed;
  // 2. libcrypto shares fetched algorithms between threads and counts references atomically;
  // 3. a prepared context is only read, by EVP_MAC_CTX_dup, whose source is const.
  @safe struct Shared: @unchecked Sendable {
    let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { unsafe self.pointer = pointer }
  }

  static let sha1 = unsafe Shared(EVP_MD_fetch(nil, "SHA1", nil))
  static let sha256 = unsafe Shared(EVP_MD_fetch(nil, "SHA256", nil))
  static let sha512 = unsafe Shared(EVP_MD_fetch(nil, "SHA512", nil))
  static let aes256GCM = unsafe Shared(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))

  /// Contexts that only need a key.
  static let hmacSHA1 = hmac("SHA1")
  static let hmacSHA256 = hmac("SHA256")
  static let hmacSHA512 = hmac("SHA512")

  private static func hmac(_ digest: String) -> Shared {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return unsafe Shared(nil) }
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return unsafe Shared(nil) }
    guard unsafe countersign_mac_digest(context, digest) == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      return unsafe Shared(nil)
    }
    return unsafe Shared(context)
  }
}

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
