import CQREncode

/// A QR code of a text in UTF-8.
///
/// The error correction level is M: about 15% of the code can be unreadable.
public struct QRCode: Sendable, Equatable {
  /// The number of modules, the small squares, along each side.
  public let size: Int
  /// The modules in row order; true is dark.
  private let modules: [Bool]

  /// Encodes a text in the smallest possible code.
  ///
  /// - Parameter text: The text, not empty and at most ``maximumLength`` bytes in UTF-8.
  /// - Throws: ``QRCodeError``.
  public init(text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes: bytes.count) }
    guard let code = unsafe QRcode_encodeData(CInt(bytes.count), bytes, 0, QR_ECLEVEL_M) else {
      throw .outOfMemory
    }
    defer { unsafe QRcode_free(code) }
    let size = unsafe Int(code.pointee.width)
    // The lowest bit of each byte is the module; the others are flags.
    modules = unsafe UnsafeBufferPointer(start: code.pointee.data, count: size * size)
      .map { $0 & 1 == 1 }
    self.size = size
  }

  /// The maximum length of a text at level M, in bytes of UTF-8.
  public static let maximumLength = 2331

  /// Returns whether the module in a column and a row is dark.
  ///
  /// - Parameters:
  ///   - column: The column from the left, from 0 to ``size`` - 1.
  ///   - row: The row from the top, from 0 to ``size`` - 1.
  public subscript(column: Int, row: Int) -> Bool {
    modules[row * size + column]
  }
}

/// The reason that a text can't be encoded as a QR code.
public enum QRCodeError: Error, Sendable, Equatable {
  /// The text is empty.
  case empty
  /// The text is longer than ``QRCode/maximumLength``.
  case tooLong(bytes: Int)
  /// There isn't enough memory.
  case outOfMemory
}
