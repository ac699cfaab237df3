/// The bytes of a page while it is being written.
struct Output {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// Appends bytes as they stand.
  mutating func append(_ raw: some Collection<UInt8>) {
    bytes.append(contentsOf: raw)
  }

  /// Appends a text as it stands.
  mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends a whole number in decimal digits.
  mutating func append(_ number: Int) {
    append(String(number))
  }

  /// Appends a text with `&`, `<`, `>`, `"` and `'` replaced by character references.
  mutating func appendEscaped(_ text: String) {
    let view = text.utf8Span
    let source = view.span
    var index = 0
    while index < source.count, !Self.isSpecial(source[index]) { index += 1 }
    guard index < source.count else { return bytes.append(contentsOf: text.utf8) }

    bytes.append(contentsOf: text.utf8.prefix(index))
    while index < source.count {
      switch source[index] {
      case UInt8(ascii: "&"): append("&amp;")
      case UInt8(ascii: "<"): append("&lt;")
      case UInt8(ascii: ">"): append("&gt;")
      case UInt8(ascii: "\""): append("&quot;")
      case UInt8(ascii: "'"): append("&#39;")
      case let other: bytes.append(other)
      }
      index += 1
    }
  }

  /// The bits of the five characters that HTML text and attribute values may not hold.
  private static let specials: UInt64 =
    1 << 34 | 1 << 38 | 1 << 39 | 1 << 60 | 1 << 62

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 64 && specials &>> UInt64(byte) & 1 == 1
  }
}
