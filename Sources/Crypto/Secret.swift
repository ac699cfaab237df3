import CCrypto

/// Secret bytes, such as a password, a key, or a token.
///
/// The description is always "secret", so that the bytes can't get into a log or an error by
/// accident, and the memory is overwritten when the last copy is released.
public struct Secret: Sendable {
  private let storage: Storage

  /// Creates a secret from bytes.
  public init(_ bytes: [UInt8]) { storage = Storage(bytes) }

  /// Creates a secret from the UTF-8 bytes of a text.
  public init(_ text: String) { storage = Storage(Array(text.utf8)) }

  /// The number of bytes.
  public var count: Int { storage.bytes.count }

  /// Whether there are no bytes.
  public var isEmpty: Bool { storage.bytes.isEmpty }

  /// The bytes.
  ///
  /// Callers must not store, log, or display them.
  public var revealedBytes: [UInt8] { storage.bytes }

  /// The bytes as text, for the one place that shows a new secret to its owner.
  ///
  /// Bytes that aren't UTF-8 are replaced.
  public var revealedText: String { String(decoding: storage.bytes, as: UTF8.self) }

  // `@unchecked Sendable`, because:
  // 1. `bytes` is written only in `init` and `deinit`;
  // 2. `deinit` runs when there are no other references.
  private final class Storage: @unchecked Sendable {
    fileprivate private(set) var bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    deinit {
      unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
      }
    }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always the word "secret".
  public var description: String { "secret" }
  /// Always the word "secret".
  public var debugDescription: String { "secret" }
  /// A mirror without children, so that `dump` shows nothing.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Equatable {
  /// Compares in time that depends only on the lengths.
  public static func == (left: Secret, right: Secret) -> Bool {
    constantTimeEqual(left.storage.bytes, right.storage.bytes)
  }
}

/// Compares two byte arrays in time that depends only on their lengths.
///
/// Source: ASVS 11.2.4; `CRYPTO_memcmp` of libcrypto.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  return unsafe left.withUnsafeBytes { a in
    unsafe right.withUnsafeBytes { b in
      unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0
    }
  }
}
