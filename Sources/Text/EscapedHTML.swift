/// The characters that are escaped in HTML, the only list of them.
public enum HTMLEscaping {
  /// Returns the character reference for a byte that must be escaped, in text and in attribute
  /// values; nil for others.
  ///
  /// Bytes are escaped: a quotation mark with an accent is a different `Character`, but still ends
  /// a value.
  @inlinable
  public static func reference(for byte: UInt8) -> String? {
    guard byte < 64, specials &>> UInt64(byte) & 1 == 1 else { return nil }
    return switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    default: "&#39;"
    }
  }

  /// One bit for each of the five bytes, so that all others are skipped quickly.
  @usableFromInline
  static let specials: UInt64 = 1 << 34 | 1 << 38 | 1 << 39 | 1 << 60 | 1 << 62
}

extension String {
  /// The text escaped for HTML, including attribute values.
  public var escapedForHTML: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if let reference = HTMLEscaping.reference(for: byte) {
        bytes += reference.utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
