/// Where a link or image leads.
struct Address {
  private let text: String
  /// What stands before the first colon, in lower case; nil for a relative address.
  private let scheme: String?

  init(_ text: String) {
    self.text = text
    let end = text.utf8.firstIndex { ":/?#".utf8.contains($0) }
    let hasScheme = end.map { text.utf8[$0] == UInt8(ascii: ":") } ?? false
    scheme = hasScheme ? end.map { text[..<$0].lowercased() } : nil
  }

  /// Whether the address is relative or has one of the schemes that are let through.
  ///
  /// Browsers skip control characters, so an address with one may not be what it seems.
  var isAllowed: Bool {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
    return scheme.map { ["http", "https", "mailto"].contains($0) } ?? true
  }

  /// The part of the same document that the address names, if it names no more.
  var part: Substring? { text.first == "#" ? text.dropFirst() : nil }

  /// Whether the address names a host.
  var mayLeadElsewhere: Bool {
    if let scheme { return scheme != "mailto" }
    let start = text.utf8.prefix(2)
    return start.count == 2 && start.allSatisfy("/\\".utf8.contains)
  }

  /// The address as the value of an `href`, with what cannot be in one percent-encoded.
  var href: String {
    let kept = Set("-_.+!*(),%#@?=;:/$~[]".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      case _ where kept.contains(byte): bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
