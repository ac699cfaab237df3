import Text

/// Percent-encoding (RFC 3986 section 2.1) of UTF-8, with a strict decoder.
enum PercentCoding {
  /// How a decoder treats a plus sign.
  enum Plus {
    case literal
    case space
  }

  /// Decodes `span[range]`.
  ///
  /// Returns nil when a percent sign isn't followed by two hexadecimal digits, the bytes aren't
  /// UTF-8, one of them is NUL, or there are too many combining marks in a row
  /// (``UntrustedText/init(checking:)``).
  static func decode(
    _ span: borrowing Span<UInt8>, _ range: Range<Int>, plus: Plus = .literal
  ) -> UntrustedText? {
    do throws(FormError) {
      return try read(span, range, plus: plus)
    } catch {
      return nil
    }
  }

  /// Decodes `span[range]`, and throws the reason when it's invalid; NUL can become
  /// ``Form/visibleNUL`` instead.
  static func read(
    _ span: borrowing Span<UInt8>, _ range: Range<Int>, plus: Plus, showsNUL: Bool = false
  ) throws(FormError) -> UntrustedText {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      var byte = span[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= range.upperBound, let high = digit(span[index]),
          let low = digit(span[index + 1])
        else { throw .badCoding }
        byte = high << 4 | low
        index += 2
      } else if byte == UInt8(ascii: "+"), plus == .space {
        byte = 0x20
      }
      guard byte == 0 else {
        bytes.append(byte)
        continue
      }
      guard showsNUL else { throw .containsNUL }
      bytes += String(Form.visibleNUL).utf8
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .badCoding }
    guard let untrusted = UntrustedText(checking: text) else { throw .tooManyMarks }
    return untrusted
  }

  /// Returns a URL with bytes that aren't allowed in URLs encoded; existing encoding stays.
  static func cleaned(_ url: String) -> String {
    URIComponent.encode(url, keeping: "%:/?#[]@!$&'()*+,;=")
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
