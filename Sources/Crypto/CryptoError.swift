/// What can go wrong in this module.
///
/// None of the cases carries secret bytes.
public enum CryptoError: Error, Equatable, Sendable {
  /// The library refused; the text names the operation.
  case failed(String)
  /// A sealed box that is too short, was changed, or belongs to other associated data.
  case notAuthentic
  /// A sealed box whose key id is not in the key ring.
  case unknownKey(UInt32)
  /// A key, hash or encoding that cannot be read; the text says what is wrong with it.
  case malformed(String)
  /// More password hashes wait than the queue holds.
  ///
  /// Try again after a second.
  case busy
}
