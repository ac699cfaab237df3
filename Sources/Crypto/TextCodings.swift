/// Base64 with the URL alphabet and without padding (RFC 4648 section 5).
public enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Returns the encoded text.
  public static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: encodedBytes(bytes), as: UTF8.self)
  }

  /// Returns the encoded text with padding.
  public static func encodePadded(_ bytes: [UInt8]) -> String {
    let text = encode(bytes)
    return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
  }

  /// Returns the encoded text in the standard alphabet, with padding (RFC 4648 section 4).
  public static func encodeStandard(_ bytes: [UInt8]) -> String {
    let text = encodePadded(bytes).utf8.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the encoded text as ASCII bytes.
  public static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count * 4 + 2) / 3)
    var index = 0
    while index + 2 < bytes.count {
      let group =
        UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
      result.append(alphabet[Int(group >> 18)])
      result.append(alphabet[Int(group >> 12 & 63)])
      result.append(alphabet[Int(group >> 6 & 63)])
      result.append(alphabet[Int(group & 63)])
      index += 3
    }
    let left = bytes.count - index
    if left > 0 {
      let group = UInt32(bytes[index]) << 16 | (left == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
      result.append(alphabet[Int(group >> 18)])
      result.append(alphabet[Int(group >> 12 & 63)])
      if left == 2 { result.append(alphabet[Int(group >> 6 & 63)]) }
    }
    return result
  }

  /// Decodes base64url or standard base64, with or without padding; nil for anything else.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count * 3 / 4)
    var group: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: byte) else { return nil }
      group = group << 6 | value
      digits += 1
      if digits % 4 == 0 {
        result.append(UInt8(truncatingIfNeeded: group >> 16))
        result.append(UInt8(truncatingIfNeeded: group >> 8))
        result.append(UInt8(truncatingIfNeeded: group))
        group = 0
      }
    }
    guard padding == 0 || (digits + padding) % 4 == 0, padding <= 2 else { return nil }
    switch digits % 4 {
    case 0: return result
    case 2:
      guard group & 0x0F == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 4))
      return result
    case 3:
      guard group & 0x03 == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 10))
      result.append(UInt8(truncatingIfNeeded: group >> 2))
      return result
    default: return nil
    }
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Hexadecimal text (RFC 4648 section 8).
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns the encoded text in lowercase.
  public static func encode(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      result.append(digits[Int(byte >> 4)])
      result.append(digits[Int(byte & 15)])
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Decodes ASCII text in any case; nil for anything else.
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 2 == 0 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else {
        return nil
      }
      result.append(high << 4 | low)
    }
    return result
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
