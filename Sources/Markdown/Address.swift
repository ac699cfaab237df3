/// The target of a link or image.
struct Address {
  private let text: String
  /// The scheme in lowercase; nil for a relative address.
  private let scheme: String?

  init(_ text: String) {
    self.text = text
    let end = text.utf8.firstIndex { ":/?#".utf8.contains($0) }
    let hasScheme = end.map { text.utf8[$0] == UInt8(ascii: ":") } ?? false
    scheme = hasScheme ? end.map { text[..<$0].lowercased() } : nil
  }

  /// Whether the address is relative or has an allowed scheme.
  ///
  /// Browsers ignore control characters, so addresses that contain one aren't allowed.
  var isAllowed: Bool {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
    return scheme.map { ["http", "https", "mailto"].contains($0) } ?? true
  }

  /// The fragment, if the address is only a fragment of the same document.
  var part: Substring? { text.first == "#" ? text.dropFirst() : nil }

  /// Whether the address can lead to another host.
  var mayLeadElsewhere: Bool {
    if let scheme { return scheme != "mailto" }
    let start = text.utf8.prefix(2)
    return start.count == 2 && start.allSatisfy("/\\".utf8.contains)
  }

  /// The address as an `href` value, percent-encoded where necessary.
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
