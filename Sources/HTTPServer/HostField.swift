import Network

/// The syntax of the Host field: a host as in URLs, and a port (RFC 9110 section 7.2).
enum HostField {
  /// The maximum length of a host, in bytes, which is that of a domain name.
  private static let longestHost = 255
  private static let mostPortDigits = 5

  /// Returns whether a value is empty, or a host with or without a port.
  static func isValid(_ value: String) -> Bool {
    let bytes = value.utf8
    guard bytes.count <= longestHost + 1 + mostPortDigits else { return false }
    guard bytes.first == UInt8(ascii: "[") else {
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      return isName(bytes[..<end]) && isPort(bytes[end...])
    }
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
    let address = NetworkAddress(value[bytes.index(after: bytes.startIndex)..<end])
    // An IPv4 address has no brackets.
    return address != nil && bytes[..<end].contains(UInt8(ascii: ":"))
      && isPort(bytes[bytes.index(after: end)...])
  }

  /// Returns whether bytes are a registered name or an IPv4 address (RFC 3986 section 3.2.2).
  private static func isName(_ bytes: Substring.UTF8View) -> Bool {
    guard bytes.count <= longestHost else { return false }
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%") {
        guard let code = bytes.index(index, offsetBy: 2, limitedBy: bytes.endIndex),
          code < bytes.endIndex, isHex(bytes[bytes.index(after: index)]), isHex(bytes[code])
        else { return false }
        index = code
      } else if !isNameByte(bytes[index]) {
        return false
      }
      index = bytes.index(after: index)
    }
    return true
  }

  /// Returns whether bytes are a colon and a port, or nothing.
  private static func isPort(_ bytes: Substring.UTF8View) -> Bool {
    guard let colon = bytes.first else { return true }
    let digits = bytes.dropFirst()
    return colon == UInt8(ascii: ":") && digits.count <= mostPortDigits
      && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=".utf8.contains(byte)
    }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit
  }
}
