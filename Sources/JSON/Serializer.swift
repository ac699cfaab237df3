import Text

extension JSON {
  /// Returns the value as UTF-8 text (RFC 8259), without white space and with members in order.
  public func serialized() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    write(to: &bytes)
    return bytes
  }

  /// Appends the value as text (RFC 8259).
  public func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let number): bytes.append(contentsOf: number.text.utf8)
    case .text(let text): JSON.write(text.text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for index in elements.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        elements[index].write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for (name, value) in object.members {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        JSON.write(name.text, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a text as a JSON string, including quotation marks.
  public static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    if isPlain(text.utf8.span) {
      bytes.append(contentsOf: text.utf8)
    } else {
      for byte in text.utf8 { writeEscaped(byte, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    for index in text.indices {
      let byte = text[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
    }
    return true
  }

  private static func writeEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): bytes.append(contentsOf: #"\""#.utf8)
    case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
    case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
    case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
    case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
    case 0..<0x20:
      bytes.append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    default: bytes.append(byte)
    }
  }
}

extension JSON {
  /// Returns the value as UTF-8 text with two spaces per level and a line for each element and
  /// member; empty arrays and objects stay on one line.
  public func indented() -> [UInt8] {
    var bytes: [UInt8] = []
    writeIndented(to: &bytes, depth: 0)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private func writeIndented(to bytes: inout [UInt8], depth: Int) {
    func line(_ depth: Int, to bytes: inout [UInt8]) {
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
    switch self {
    case .array(let elements) where !elements.isEmpty:
      bytes.append(UInt8(ascii: "["))
      for index in elements.indices {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        line(depth + 1, to: &bytes)
        elements[index].writeIndented(to: &bytes, depth: depth + 1)
      }
      line(depth, to: &bytes)
      bytes.append(UInt8(ascii: "]"))
    case .object(let object) where !object.isEmpty:
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for (name, value) in object.members {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        line(depth + 1, to: &bytes)
        JSON.write(name.text, to: &bytes)
        bytes.append(contentsOf: ": ".utf8)
        value.writeIndented(to: &bytes, depth: depth + 1)
      }
      line(depth, to: &bytes)
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .number, .text, .array, .object: write(to: &bytes)
    }
  }
}
