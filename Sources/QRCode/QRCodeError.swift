/// Why a text has no QR code.
public enum QRCodeError: Error, Sendable, Equatable {
  /// The text is empty.
  case empty
  /// The text is longer than ``QRCode/maximumLength``.
  case tooLong(bytes: Int)
  /// There is no memory left for the code.
  case outOfMemory
}
