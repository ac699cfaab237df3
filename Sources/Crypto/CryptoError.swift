/// A cryptographic error, without any secret data.
public enum CryptoError: Error, Equatable, Sendable {
  /// The library reported an error; the text names the operation.
  case failed(String)
  /// A sealed box that is too short, was changed, or has different associated data.
  case notAuthentic
  /// A sealed box whose key ID isn't in the key ring.
  case unknownKey(UInt32)
  /// A key, hash, or encoding that can't be parsed; the text is the reason.
  case malformed(String)
  /// The queue of password hashes is full.
  ///
  /// Callers can try again after a second.
  case busy
}
