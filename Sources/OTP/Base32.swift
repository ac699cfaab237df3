/// Base32 (RFC 4648 section 6), the text form of shared secrets.
public enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// Returns `bytes` as uppercase text, without padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count * 8 + 4) / 5)
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        result.append(alphabet[Int(buffer >> bits & 31)])
      }
    }
    if bits > 0 { result.append(alphabet[Int(buffer << (5 - bits) & 31)]) }
    return String(decoding: result, as: UTF8.self)
  }

  /// Decodes text as people type it: in any case, with spaces and hyphens between groups, and with
  /// or without padding.
  ///
  /// Returns nil for other characters, for an impossible length, and when leftover bits aren't
  /// zero. `0`, `1`, and `8` are rejected rather than guessed.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var result: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    var digits = 0
    var padded = false
    for byte in text.utf8 {
      let value: UInt32
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "-"): continue
      case UInt8(ascii: "="):
        padded = true
        continue
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(byte - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(byte - UInt8(ascii: "a"))
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = UInt32(byte - UInt8(ascii: "2")) + 26
      default: return nil
      }
      guard !padded else { return nil }
      digits += 1
      buffer = (buffer << 5 | value) & 0xFFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        result.append(UInt8(truncatingIfNeeded: buffer >> bits))
      }
    }
    guard [0, 2, 4, 5, 7].contains(digits % 8), buffer & ((1 << bits) - 1) == 0 else { return nil }
    return result
  }
}
