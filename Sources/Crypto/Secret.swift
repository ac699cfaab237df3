import CCrypto

/// Bytes that must not be seen: a password, a key, a token.
///
/// It has no description but the word "secret", so it cannot reach a log or an error by accident,
/// and its memory is overwritten when the last copy goes.
public struct Secret: Sendable {
  private let storage: Storage

  /// Takes the bytes as they are.
  public init(_ bytes: [UInt8]) { storage = Storage(bytes) }

  /// Takes the UTF-8 bytes of a text.
  public init(_ text: String) { storage = Storage(Array(text.utf8)) }

  /// How many bytes there are.
  public var count: Int { storage.bytes.count }

  /// True where there are no bytes at all.
  public var isEmpty: Bool { storage.bytes.isEmpty }

  /// The bytes themselves.
  ///
  /// The caller must not store, log or show them.
  public var revealedBytes: [UInt8] { storage.bytes }

  /// The bytes as text, for the one place that hands a new secret to its owner.
  ///
  /// Bytes that are not UTF-8 are replaced.
  public var revealedText: String { String(decoding: storage.bytes, as: UTF8.self) }

  // Sendable without the compiler's proof, because:
  // 1. `bytes` is written in `init` and in `deinit` only;
  // 2. `deinit` runs when nobody else holds the object.
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
  /// Compares in time that depends on the lengths only.
  public static func == (left: Secret, right: Secret) -> Bool {
    constantTimeEqual(left.storage.bytes, right.storage.bytes)
  }
}

/// Tells whether two byte strings are equal, in time that depends on their lengths only.
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
