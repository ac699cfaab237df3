/// Percent-encoding for parts of URIs (RFC 3986 section 2).
public enum URIComponent {
  /// Percent-encodes everything except letters, digits, `-._~`, and the characters in `keeping`.
  public static func encode(_ text: String, keeping: StaticString = "") -> String {
    var result: [UInt8] = []
    append(text, to: &result, keeping: keeping)
    return String(decoding: result, as: UTF8.self)
  }

  /// Appends a text encoded, with a fast path for text that needs no encoding.
  public static func append(
    _ text: String, to result: inout [UInt8], keeping: StaticString = ""
  ) {
    let utf8 = text.utf8Span.span
    for index in utf8.indices where !isUnreserved(utf8[index]) {
      return encode(text, into: &result, keeping: keeping)
    }
    result += text.utf8
  }

  private static func encode(_ text: String, into result: inout [UInt8], keeping: StaticString) {
    let kept = keeping.utf8CodeUnitCount == 0 ? nil : keeping.description
    let utf8 = text.utf8Span.span
    for index in utf8.indices {
      let byte = utf8[index]
      if isUnreserved(byte) || kept?.utf8.contains(byte) == true {
        result.append(byte)
      } else {
        result.append(UInt8(ascii: "%"))
        result.append(hexadecimal(byte >> 4))
        result.append(hexadecimal(byte & 15))
      }
    }
  }

  /// Returns whether a byte is unreserved (RFC 3986 section 2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexadecimal(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
