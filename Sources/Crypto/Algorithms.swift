import CCrypto

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
