/// The reason that a text can't be encoded as a QR code.
public enum QRCodeError: Error, Sendable, Equatable {
  /// The text is empty.
  case empty
  /// The text is longer than ``QRCode/maximumLength``.
  case tooLong(bytes: Int)
  /// There isn't enough memory.
  case outOfMemory
}
