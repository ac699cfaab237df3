enum PoolRules {
  static func isProjectID(_ id: String) -> Bool {
    let bytes = Array(id.utf8)
    guard (6...30).contains(bytes.count), bytes.last != UInt8(ascii: "-") else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        if index == 0 { return false }
      default: return false
      }
    }
    return true
  }

  /// Returns whether a text is a display name of anything but a tenant: 1 to 100 characters without
  /// control characters, of which some can be seen.
  static func isDisplayName(_ name: String) -> Bool {
    !name.isEmpty && name.unicodeScalars.count <= 100
      && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
      && name.ifVisible != nil
  }

  static func isTenantName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (4...20).contains(bytes.count) else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z") where byte >= 0x41: continue
      default:
        let digitOrHyphen =
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        if index == 0 || !digitOrHyphen { return false }
      }
    }
    return true
  }

  /// Returns whether a text is a hostname, such as `localhost` or `app.example.com`: labels of a-z,
  /// 0-9, and hyphen, separated by dots (RFC 1123, section 2.1).
  static func isDomain(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { label in
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
          return false
        }
        return label.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen:
            true
          default: false
          }
        }
      }
  }
}
