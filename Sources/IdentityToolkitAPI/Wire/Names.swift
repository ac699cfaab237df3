import Text

/// The two spellings of proto3 JSON: `lowerCamelCase`, which is written, and `snake_case`, which is
/// accepted too.
enum Names {
  /// Returns whether a name in either spelling equals this camel-case name.
  static func match(_ written: UntrustedText, _ name: String) -> Bool {
    let text = written.text
    let one = text.utf8.span
    let other = name.utf8.span
    var place = 0
    for index in other.indices {
      var byte = other[index]
      if isCapital(byte), place < one.count, one[place] == underscore {
        place += 1
        byte |= 0x20
      }
      guard place < one.count, one[place] == byte else { return false }
      place += 1
    }
    return place == one.count
  }

  /// Returns the snake-case spelling, which error paths use.
  static func snake(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      if isCapital(byte) { bytes.append(underscore) }
      bytes.append(isCapital(byte) ? byte | 0x20 : byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the camel-case spelling of a name in either spelling.
  static func camel(_ name: String) -> String {
    guard name.utf8.contains(underscore) else { return name }
    var bytes: [UInt8] = []
    var isRaised = false
    for byte in name.utf8 {
      if byte == underscore {
        isRaised = true
        continue
      }
      bytes.append(isRaised && 0x61...0x7A ~= byte ? byte & ~0x20 : byte)
      isRaised = false
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let underscore = UInt8(ascii: "_")
  private static func isCapital(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte }
}
