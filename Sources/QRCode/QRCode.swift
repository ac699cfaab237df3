import CQREncode

/// A text as a QR code, which readers take as UTF-8.
///
/// The error correction is of level M: a reader makes up for about 15 % of the code.
public struct QRCode: Sendable, Equatable {
  /// The number of modules, the small squares, along each side.
  public let size: Int
  /// The modules row by row; true is dark.
  private let modules: [Bool]

  /// Encodes a text in the smallest code that holds it.
  ///
  /// - Parameter text: Not empty, and at most ``maximumLength`` bytes in UTF-8.
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
    // The lowest bit of each byte is the module; the others say what part of the code it is.
    modules = unsafe UnsafeBufferPointer(start: code.pointee.data, count: size * size)
      .map { $0 & 1 == 1 }
    self.size = size
  }

  /// The number of bytes in UTF-8 that a code of level M can hold.
  public static let maximumLength = 2331

  /// Whether the module in a column and a row, counted from zero, is dark.
  ///
  /// - Parameters:
  ///   - column: From the left, less than ``size``.
  ///   - row: From the top, less than ``size``.
  public subscript(column: Int, row: Int) -> Bool {
    modules[row * size + column]
  }
}
