/// A strict decoder of chunked bodies (RFC 9112 section 7.1).
///
/// Lines end with CR LF. A lone CR or LF, which some servers accept as a line ending and others
/// don't, is an error everywhere, including in chunk extensions and trailers: two parties that
/// disagree on where a body ends disagree on the next request (request smuggling). Extensions and
/// trailers are checked and discarded.
struct ChunkDecoder {
  /// The next element of the body.
  enum Event: Equatable {
    /// Bytes of the body, by their offsets in the part.
    case data(Range<Int>)
    /// The part is consumed.
    case more
    /// The body is complete.
    case end
    /// The body is malformed.
    case malformed
  }

  private enum State {
    case size(digits: Int)
    case `extension`
    case sizeLineFeed
    case data
    case dataReturn
    case dataLineFeed
    case trailer
    case trailerName
    case trailerValue
    case trailerLineFeed
    case lastLineFeed
    case ended
  }

  /// The maximum size of all chunk extensions of a body, in bytes.
  static let mostOfExtensions = 4 << 10
  /// The maximum size of all trailers of a body, in bytes.
  static let mostOfTrailers = 8 << 10
  private static let mostDigits = 15

  private var state = State.size(digits: 0)
  /// The remaining bytes of the current chunk.
  private var left = 0
  private var extensionBytes = 0
  private var trailerBytes = 0

  /// Decodes the next element of a part of the body.
  ///
  /// - Parameters:
  ///   - part: The bytes received.
  ///   - index: The offset at which to continue; moved past the bytes consumed.
  /// - Returns: The next element; `more` when the part is consumed.
  mutating func next(in part: UnsafeRawBufferPointer, from index: inout Int) -> Event {
    while index < part.count {
      if case .data = state {
        let end = index + min(left, part.count - index)
        defer { index = end }
        left -= end - index
        if left == 0 { state = .dataReturn }
        return .data(index..<end)
      }
      let byte = unsafe part[index]
      index += 1
      guard take(byte) else { return .malformed }
      if case .ended = state { return .end }
    }
    return .more
  }

  /// Consumes a byte of the framing; returns false when it isn't allowed there.
  private mutating func take(_ byte: UInt8) -> Bool {
    switch (state, byte) {
    case (.size(let digits), _) where ChunkDecoder.digit(byte) != nil:
      guard digits < ChunkDecoder.mostDigits, let digit = ChunkDecoder.digit(byte) else {
        return false
      }
      left = left << 4 | digit
      state = .size(digits: digits + 1)
    case (.size(let digits), UInt8(ascii: "\r")) where digits > 0: state = .sizeLineFeed
    case (.size(let digits), UInt8(ascii: ";")) where digits > 0: state = .extension
    case (.extension, UInt8(ascii: "\r")): state = .sizeLineFeed
    case (.extension, _):
      extensionBytes += 1
      return ChunkDecoder.isText(byte) && extensionBytes <= ChunkDecoder.mostOfExtensions
    case (.sizeLineFeed, UInt8(ascii: "\n")): state = left == 0 ? .trailer : .data
    case (.dataReturn, UInt8(ascii: "\r")): state = .dataLineFeed
    case (.dataLineFeed, UInt8(ascii: "\n")): state = .size(digits: 0)
    case (.trailer, UInt8(ascii: "\r")): state = .lastLineFeed
    case (.trailer, _):
      state = .trailerName
      return countTrailer() && ChunkDecoder.isToken(byte)
    case (.trailerName, UInt8(ascii: ":")):
      state = .trailerValue
      return countTrailer()
    case (.trailerName, _): return countTrailer() && ChunkDecoder.isToken(byte)
    case (.trailerValue, UInt8(ascii: "\r")): state = .trailerLineFeed
    case (.trailerValue, _): return countTrailer() && ChunkDecoder.isText(byte)
    case (.trailerLineFeed, UInt8(ascii: "\n")): state = .trailer
    case (.lastLineFeed, UInt8(ascii: "\n")): state = .ended
    default: return false
    }
    return true
  }

  private mutating func countTrailer() -> Bool {
    trailerBytes += 1
    return trailerBytes <= ChunkDecoder.mostOfTrailers
  }

  private static func digit(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }

  /// Returns whether a byte is allowed in a value: visible, a space, a tab, or not ASCII.
  private static func isText(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
  }

  /// Returns whether a byte is allowed in a name (RFC 9110 section 5.6.2).
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
