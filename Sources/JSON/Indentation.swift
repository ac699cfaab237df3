import Text

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
