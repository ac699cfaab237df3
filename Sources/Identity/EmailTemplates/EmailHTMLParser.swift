/// Reads the tags and the text of HTML.
struct EmailHTMLParser {
  private let bytes: [UInt8]
  private var position = 0
  private var tokens: [EmailHTML.Token] = []
  private var faults: [EmailHTML.Fault] = []
  private var open: [String] = []
  private var text: [UInt8] = []

  /// The deepest nesting; elements further inside are left out, and their text isn't.
  private static let depth = 50
  /// The elements whose content isn't text.
  private static let hidden: Set<String> = ["script", "style", "title", "template", "noscript"]

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func parse() -> ([EmailHTML.Token], [EmailHTML.Fault]) {
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "<") else {
        text.append(bytes[position])
        position += 1
        continue
      }
      if starts(with: "<!--") {
        skip(past: "-->")
      } else if let next = byte(at: position + 1), next == 0x21 || next == 0x3F {
        skip(past: ">")
      } else if let next = byte(at: position + 1), next == UInt8(ascii: "/"),
        let first = byte(at: position + 2), Self.isLetter(first)
      {
        position += 2
        readEnd()
      } else if let next = byte(at: position + 1), Self.isLetter(next) {
        position += 1
        readStart()
      } else {
        text.append(bytes[position])
        position += 1
      }
    }
    flush()
    for name in open.reversed() { tokens.append(.end(name)) }
    return (tokens, faults)
  }

  private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

  private func starts(with prefix: StaticString) -> Bool {
    bytes[position...].starts(with: prefix.description.utf8)
  }

  private mutating func skip(past end: StaticString) {
    let mark = Array(end.description.utf8)
    while position < bytes.count, !bytes[position...].starts(with: mark) { position += 1 }
    position = min(position + mark.count, bytes.count)
  }

  private mutating func flush() {
    guard !text.isEmpty else { return }
    tokens.append(.text(CharacterReferences.decoded(text)))
    text = []
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Reads a name up to a space or a character that ends it, in lowercase.
  private mutating func name(endingAt ends: [UInt8]) -> String {
    let start = position
    while position < bytes.count, !Self.isSpace(bytes[position]), !ends.contains(bytes[position]) {
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
  }

  private mutating func skipSpace() {
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
  }

  private mutating func readEnd() {
    let name = name(endingAt: Array(">/".utf8))
    skip(past: ">")
    guard let index = open.lastIndex(of: name) else { return }
    flush()
    for name in open[index...].reversed() { tokens.append(.end(name)) }
    open.removeSubrange(index...)
  }

  private mutating func readStart() {
    let name = name(endingAt: Array(">/".utf8))
    let attributes = readAttributes()
    guard !EmailHTML.document.contains(name) else { return }
    guard EmailHTML.elements.contains(name) else {
      faults.append(.element(name))
      if Self.hidden.contains(name) { skipContent(of: name) }
      return
    }
    var href: String?
    for (attribute, value) in attributes {
      guard name == "a", attribute == "href", href == nil else {
        faults.append(.attribute(attribute, of: name))
        continue
      }
      guard EmailHTML.isAddress(value, link: EmailVariable.link.rawValue) else {
        faults.append(.address(value))
        continue
      }
      href = value
    }
    flush()
    guard !EmailHTML.voids.contains(name) else { return tokens.append(.start(name)) }
    guard open.count < Self.depth else { return }
    tokens.append(.start(name, href: href))
    open.append(name)
  }

  /// Reads the attributes of a tag and its end.
  private mutating func readAttributes() -> [(String, String)] {
    var attributes: [(String, String)] = []
    while position < bytes.count {
      skipSpace()
      guard let next = byte(at: position) else { break }
      if next == UInt8(ascii: ">") {
        position += 1
        break
      }
      if next == UInt8(ascii: "/") {
        position += 1
        continue
      }
      let start = position
      var attribute = name(endingAt: Array("=>/".utf8))
      if position == start {
        // An equals sign where a name should be is a part of the name.
        position += 1
        attribute = "=" + name(endingAt: Array("=>/".utf8))
      }
      skipSpace()
      guard byte(at: position) == UInt8(ascii: "=") else {
        attributes.append((attribute, ""))
        continue
      }
      position += 1
      skipSpace()
      attributes.append((attribute, readValue()))
    }
    return attributes
  }

  private mutating func readValue() -> String {
    guard let quote = byte(at: position) else { return "" }
    var value: ArraySlice<UInt8>
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      position += 1
      value = bytes[position...].prefix { $0 != quote }
      position = min(value.endIndex + 1, bytes.count)
    } else {
      value = bytes[position...].prefix { !Self.isSpace($0) && $0 != UInt8(ascii: ">") }
      position = value.endIndex
    }
    value = value.drop(while: Self.isSpace)
    while let last = value.last, Self.isSpace(last) { value.removeLast() }
    return CharacterReferences.decoded(Array(value))
  }

  private mutating func skipContent(of name: String) {
    let end = Array("</\(name)".utf8)
    while position < bytes.count {
      let ahead = bytes[position...].prefix(end.count).map { Self.isLetter($0) ? $0 | 0x20 : $0 }
      if ahead == end { break }
      position += 1
    }
    skip(past: ">")
  }
}

/// Character references of HTML, such as `&amp;`.
enum CharacterReferences {
  private static let names: [String: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}", "copy": "\u{A9}",
    "reg": "\u{AE}", "trade": "\u{2122}", "hellip": "\u{2026}", "ndash": "\u{2013}",
    "mdash": "\u{2014}", "lsquo": "\u{2018}", "rsquo": "\u{2019}", "ldquo": "\u{201C}",
    "rdquo": "\u{201D}", "bull": "\u{2022}", "middot": "\u{B7}", "rarr": "\u{2192}",
  ]

  /// The longest reference that is read, without `&` and `;`.
  private static let longest = 10

  /// Returns text with its references replaced; unknown ones stay as they are.
  static func decoded(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let rest = bytes[(index + 1)...]
      if bytes[index] == UInt8(ascii: "&"),
        let end = rest.prefix(longest + 1).firstIndex(of: UInt8(ascii: ";")),
        let scalar = scalar(String(decoding: rest[..<end], as: UTF8.self))
      {
        result += String(scalar).utf8
        index = end + 1
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func scalar(_ name: String) -> Unicode.Scalar? {
    guard name.hasPrefix("#") else { return names[name] }
    let digits = name.dropFirst()
    let isHex = digits.first == "x" || digits.first == "X"
    let number = isHex ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, number >= 0x20, !(0x7F...0x9F).contains(number) else { return nil }
    return Unicode.Scalar(number)
  }
}
