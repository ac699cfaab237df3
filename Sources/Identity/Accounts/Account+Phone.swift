extension Account {
  /// Normalizes a phone number to E.164: removes spaces, hyphens, dots, parentheses, and slashes,
  /// and converts three or more letters to keypad digits.
  ///
  /// - Parameter text: A number that begins with a plus sign.
  /// - Returns: The normalized number, or `text` unchanged if it isn't a phone number.
  public static func phoneNumber(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "+"), bytes.count <= longestWrittenNumber else { return text }
    var number = [UInt8(ascii: "+")]
    var letters = 0
    for byte in bytes.dropFirst() {
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

  private static let longestWrittenNumber = 64
  private static let separators = Array(" -.()/".utf8)
  /// The keypad digits for A to Z (ITU-T E.161).
  private static let keypad = Array("22233344455566677778889999".utf8)
}
