/// A test phone number, as configured with its code.
public enum TestNumber {
  private static let longest = 40

  /// Returns the E.164 format of a number; nil if the text isn't a phone number.
  ///
  /// Spaces, hyphens, dots, and parentheses are dropped, and letters are replaced with the digit on
  /// their key (ITU-T E.161): `+1 (650) 555-abcd` becomes `+16505552223`.
  public static func normalized(_ text: String) -> String? {
    guard text.utf8.count <= longest, text.utf8.first == UInt8(ascii: "+") else { return nil }
    var number = "+"
    for byte in text.utf8.dropFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number.append(Character(UnicodeScalar(byte)))
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("),
        UInt8(ascii: ")"):
        continue
      default:
        guard let key = key(of: byte | 0x20) else { return nil }
        number.append(key)
      }
    }
    do { try AccountRules.checkPhone(number) } catch { return nil }
    return number
  }

  private static func key(of letter: UInt8) -> Character? {
    let keys = [
      "abc": "2", "def": "3", "ghi": "4", "jkl": "5", "mno": "6", "pqrs": "7", "tuv": "8",
      "wxyz": "9",
    ]
    return keys.first { $0.key.utf8.contains(letter) }?.value.first
  }
}

/// A region that text messages are sent to, as an ISO 3166-1 alpha-2 code.
public enum SMSRegion {
  /// Returns whether a region has phone numbers; case-insensitive.
  public static func isKnown(_ code: String) -> Bool {
    code.utf8.count == 2 && CallingCodes.all.contains(code.uppercased())
  }
}
