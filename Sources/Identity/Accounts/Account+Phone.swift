extension Account {
  /// Normalizes a phone number to E.164: removes spaces, hyphens, dots, parentheses, and slashes,
  /// and the trunk prefix in `+49 (0)170 …`, which is dialed only within a country, and converts three
  /// or more letters to keypad digits.
  ///
  /// - Parameter text: A number that begins with a plus sign.
  /// - Returns: The normalized number, or `text` unchanged if it isn't a phone number.
  public static func phoneNumber(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "+"), bytes.count <= longestWrittenNumber else { return text }
    var number = [UInt8(ascii: "+")]
    var letters = 0
    for byte in withoutTrunkPrefix(bytes).dropFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
        letters += 1
        number.append(keypad[Int(byte | 0x20) - 0x61])
      case _ where separators.contains(byte): break
      default: return text
      }
    }
    return letters == 0 || letters >= 3 ? String(decoding: number, as: UTF8.self) : text
  }

  /// Returns a number without a zero in parentheses after the calling code.
  private static func withoutTrunkPrefix(_ bytes: [UInt8]) -> [UInt8] {
    let prefix = Array("(0)".utf8)
    guard let range = bytes.firstRange(of: prefix) else { return bytes }
    let code = bytes[..<range.lowerBound].filter { !separators.contains($0) }.dropFirst()
    guard !code.isEmpty, !codesBeforeZero.contains(String(decoding: code, as: UTF8.self)) else {
      return bytes
    }
    return Array(bytes[..<range.lowerBound] + bytes[range.upperBound...])
  }

  /// The calling codes after which a zero can be part of a number (ITU-T E.164): Italy and its
  /// neighbors, the Ivory Coast, Gabon, and the Congo.
  private static let codesBeforeZero: Set = ["39", "378", "379", "225", "241", "242"]
  private static let longestWrittenNumber = 64
  private static let separators = Array(" -.()/".utf8)
  /// The keypad digits for A to Z (ITU-T E.161).
  private static let keypad = Array("22233344455566677778889999".utf8)
}
