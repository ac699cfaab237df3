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

  /// Decodes text as people type it: in any case, with white space and hyphens between groups, and
  /// with or without padding.
  ///
  /// Leftover bits are ignored, as authenticator apps do. Returns nil for other characters and for an
  /// impossible length. `0`, `1`, and `8` are rejected rather than guessed.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var result: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    var digits = 0
    var padded = false
    for scalar in text.unicodeScalars {
      let value: UInt32
      switch scalar {
      case "-": continue
      case "=":
        padded = true
        continue
      case "A"..."Z": value = scalar.value - 0x41
      case "a"..."z": value = scalar.value - 0x61
      case "2"..."7": value = scalar.value - 0x32 + 26
      default:
        guard scalar.properties.isWhitespace else { return nil }
        continue
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
    guard [0, 2, 4, 5, 7].contains(digits % 8) else { return nil }
    return result
  }
}
