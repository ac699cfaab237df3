/// The messages with which Google's frontends reject a body that isn't JSON: what was expected, up
/// to twenty bytes on either side of the error, and a caret below it.
///
/// They accept more than RFC 8259 allows (unquoted names, single quotation marks, trailing commas),
/// so such bodies have no message here. They parse in two passes: the second starts where the first
/// needs more bytes than there are, and nothing before that position is shown.
struct JSONRefusal {
  private struct Fault: Error {
    let text: String
    /// The position of the caret; nil without an excerpt.
    let place: Int?
  }

  private enum Token {
    case object, array, text, number, literal(Int), closing(UInt8), name
    /// The end of the input, or a byte that starts no token.
    case none
  }

  private static let longestExcerpt = 20
  private static let deepest = 100

  private let bytes: [UInt8]
  private var position = 0
  /// The start of the second pass; nil during the first.
  private var secondPass: Int?

  static func text(for bytes: [UInt8]) -> String? {
    var reader = JSONRefusal(bytes: bytes)
    do throws(Fault) {
      try reader.document()
      return nil
    } catch {
      return reader.words(error)
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func words(_ fault: Fault) -> String {
    guard let place = fault.place else { return fault.text }
    let begin = max(place - Self.longestExcerpt, secondPass ?? 0)
    let end = min(place + Self.longestExcerpt, bytes.count)
    let excerpt = String(decoding: bytes[begin..<max(begin, end)], as: UTF8.self)
    return "\(fault.text)\n\(excerpt)\n\(String(repeating: " ", count: max(place - begin, 0)))^"
  }

  private mutating func document() throws(Fault) {
    try value(of: "", depth: 0)
    skipSpace()
    guard position == bytes.count else { throw fault("Parsing terminated before end of input.") }
  }

  private mutating func value(of name: String, depth: Int) throws(Fault) {
    switch next() {
    case .none: throw missing("Expected a value.")
    case .object, .array:
      guard depth < Self.deepest else {
        throw Fault(
          text: "Message too deep. Max recursion depth reached for key '\(name)'", place: nil)
      }
      let isObject = bytes[position] == UInt8(ascii: "{")
      position += 1
      if isObject { try object(depth: depth + 1) } else { try array(of: name, depth: depth + 1) }
    case .text: _ = try text()
    case .number: try number()
    case .literal(let length): position += length
    case .closing, .name:
      // A few bytes could still become a literal.
      if bytes.count - position < 5 { wait(from: position) }
      throw fault("Unexpected token.")
    }
  }

  private mutating func object(depth: Int) throws(Fault) {
    while true {
      let name: String
      switch next() {
      case .none: throw missing("Expected an object key or }.")
      case .closing(UInt8(ascii: "}")):
        position += 1
        return
      case .text: name = try text()
      case .name: name = word()
      case .literal(let length):
        name = word()
        guard name.utf8.count > length else { throw fault("Expected an object key or }.") }
      default: throw fault("Expected an object key or }.")
      }
      try take(UInt8(ascii: ":"), "Expected : between key:value pair.")
      try value(of: name, depth: depth)
      guard try goesOn(until: UInt8(ascii: "}"), "Expected , or } after key:value pair.") else {
        return
      }
    }
  }

  private mutating func array(of name: String, depth: Int) throws(Fault) {
    while true {
      switch next() {
      case .none: throw missing("Expected a value or ] within an array.")
      case .closing(UInt8(ascii: "]")):
        position += 1
        return
      default: try value(of: name, depth: depth)
      }
      guard try goesOn(until: UInt8(ascii: "]"), "Expected , or ] after array value.") else {
        return
      }
    }
  }

  private mutating func take(_ byte: UInt8, _ text: String) throws(Fault) {
    switch next() {
    case .none: throw missing(text)
    case .closing(byte): position += 1
    default: throw fault(text)
    }
  }

  /// Whether a comma follows, rather than the end.
  private mutating func goesOn(until end: UInt8, _ text: String) throws(Fault) -> Bool {
    switch next() {
    case .none: throw missing(text)
    case .closing(end):
      position += 1
      return false
    case .closing(UInt8(ascii: ",")):
      position += 1
      return true
    default: throw fault(text)
    }
  }
}

// MARK: - Tokens

extension JSONRefusal {
  private mutating func next() -> Token {
    skipSpace()
    guard position < bytes.count else { return .none }
    switch bytes[position] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: ","):
      return .closing(bytes[position])
    case let byte where Self.isLetter(byte):
      for literal in ["true", "false", "null"] where bytes[position...].starts(with: literal.utf8) {
        return .literal(literal.utf8.count)
      }
      return .name
    default: return .none
    }
  }

  private mutating func word() -> String {
    let start = position
    while position < bytes.count, Self.isLetter(bytes[position]) || Self.isDigit(bytes[position]) {
      position += 1
    }
    if position == bytes.count { wait(from: start) }
    return shown(start..<position)
  }

  /// Skips a quoted string; excerpts show it as written.
  private mutating func text() throws(Fault) -> String {
    let start = position
    let quotationMark = bytes[start]
    position += 1
    while position < bytes.count {
      switch bytes[position] {
      case quotationMark:
        position += 1
        return shown(start + 1..<position - 1)
      case UInt8(ascii: "\\"): try escape(in: start)
      default: position += 1
      }
    }
    wait(from: start)
    throw fault("Closing quote expected in string.", at: start)
  }

  private mutating func escape(in start: Int) throws(Fault) {
    guard position + 1 < bytes.count else {
      position = bytes.count
      return
    }
    guard bytes[position + 1] == UInt8(ascii: "u") else {
      position += 2
      return
    }
    let first = try hexadecimal("Illegal hex string.", at: position, in: start)
    guard first & 0xFC00 == 0xD800 else {
      guard first & 0xFC00 != 0xDC00 else { throw fault("Invalid unicode code point.") }
      position += 6
      return
    }
    let hasSecond =
      position + 7 < bytes.count && bytes[position + 6] == UInt8(ascii: "\\")
      && bytes[position + 7] == UInt8(ascii: "u")
    guard hasSecond else {
      if bytes.count - position < 12 { wait(from: start) }
      throw fault("Missing low surrogate.")
    }
    let second = try hexadecimal("Missing low surrogate.", at: position + 6, in: start)
    guard second & 0xFC00 == 0xDC00 else { throw fault("Invalid low surrogate.") }
    position += 12
  }

  private mutating func hexadecimal(
    _ missing: String, at place: Int, in start: Int
  ) throws(Fault) -> UInt16 {
    guard place + 6 <= bytes.count else {
      wait(from: start)
      throw fault(missing)
    }
    let digits = String(decoding: bytes[place + 2..<place + 6], as: UTF8.self)
    guard digits.utf8.allSatisfy({ Self.isDigit($0) || Self.isLetter($0) }),
      let value = UInt16(digits, radix: 16)
    else { throw fault("Invalid escape sequence.") }
    return value
  }

  private mutating func number() throws(Fault) {
    let start = position
    while position < bytes.count, Self.isOfNumber(bytes[position]) { position += 1 }
    if position == bytes.count { wait(from: start) }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
    let isWhole = !text.utf8.contains { $0 == 0x2E || $0 | 0x20 == UInt8(ascii: "e") }
    if isWhole, digits.count > 1, digits.first == UInt8(ascii: "0") {
      throw fault("Octal/hex numbers are not valid JSON values.", at: start)
    }
    guard let value = Double(text) else { throw fault("Unable to parse number.", at: start) }
    guard value.isFinite else { throw fault("Number exceeds the range of double.", at: start) }
  }

  private mutating func skipSpace() {
    while position < bytes.count, bytes[position] == 0x20 || 0x09...0x0D ~= bytes[position] {
      position += 1
    }
  }

  /// Starts the second pass where the first would have waited for more bytes.
  private mutating func wait(from place: Int) {
    if secondPass == nil { secondPass = place }
  }

  private mutating func missing(_ text: String) -> Fault {
    wait(from: position)
    return fault(position == bytes.count ? "Unexpected end of string. \(text)" : text)
  }

  private func fault(_ text: String, at place: Int? = nil) -> Fault {
    Fault(text: text, place: place ?? position)
  }

  private func shown(_ range: Range<Int>) -> String {
    String(decoding: bytes[range.prefix(100)], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "$")
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "x"),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: isDigit(byte)
    }
  }
}
