import Text

extension JSON {
  /// Parses a JSON document (RFC 8259).
  ///
  /// It's stricter than many parsers, so that no two parsers can interpret the same bytes
  /// differently: the bytes must be UTF-8 without a byte order mark, names in an object must be
  /// unique, escaped surrogates must be paired, and only white space may follow the value.
  ///
  /// - Parameters:
  ///   - bytes: The document in UTF-8.
  ///   - maximumDepth: How deep arrays and objects can be nested.
  ///   - repairing: Whether strings are repaired rather than refused, for what another server wrote: an
  ///     unpaired surrogate becomes U+FFFD, and excess combining marks are left out.
  /// - Returns: The value.
  /// - Throws: The error, with its offset.
  /// - Complexity: Linear in the number of bytes.
  public static func parse(
    _ bytes: [UInt8], maximumDepth: Int = 100, repairing: Bool = false
  ) throws(JSONError) -> JSON {
    do throws(JSONError) {
      var parser = Parser(maximumDepth: maximumDepth, isRepairing: repairing)
      return try parser.document(bytes.span)
    } catch {
      // Invalid UTF-8 outside of a string is first reported as a syntax error.
      guard case .syntax = error else { throw error }
      do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: bytes.span)
      } catch let invalid {
        throw .invalidUTF8(offset: invalid.byteOffsets.lowerBound)
      }
      throw error
    }
  }
}

/// A recursive-descent parser's position in bytes that are passed to each method.
struct Parser {
  let maximumDepth: Int
  let isRepairing: Bool
  var depth = 0
  var position = 0

  mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
    skipSpace(bytes)
    guard position < bytes.count else { throw .empty }
    let value = try value(bytes)
    skipSpace(bytes)
    guard position == bytes.count else { throw .syntax(offset: position) }
    return value
  }

  private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
    guard position < bytes.count else { throw .syntax(offset: position) }
    switch bytes[position] {
    case UInt8(ascii: "\""): return .text(try string(bytes))
    case UInt8(ascii: "{"): return .object(try object(bytes))
    case UInt8(ascii: "["): return .array(try array(bytes))
    case UInt8(ascii: "t"): return try literal("true", .bool(true), bytes)
    case UInt8(ascii: "f"): return try literal("false", .bool(false), bytes)
    case UInt8(ascii: "n"): return try literal("null", .null, bytes)
    default: return .number(try number(bytes))
    }
  }

  private mutating func object(_ bytes: Span<UInt8>) throws(JSONError) -> JSON.Object {
    try enter()
    var members: [JSON.Object.Element] = []
    var names: Set<UntrustedText> = []
    if closes(UInt8(ascii: "}"), bytes) { return JSON.Object() }
    repeat {
      skipSpace(bytes)
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw .syntax(offset: position)
      }
      let start = position
      let name = try string(bytes)
      guard name.byteCount <= UntrustedText.longestName else { throw .nameTooLong(offset: start) }
      try refuseDuplicate(of: name, in: members, &names)
      skipSpace(bytes)
      guard take(UInt8(ascii: ":"), bytes) else { throw .syntax(offset: position) }
      skipSpace(bytes)
      members.append((name, try value(bytes)))
      skipSpace(bytes)
    } while take(UInt8(ascii: ","), bytes)
    guard closes(UInt8(ascii: "}"), bytes) else { throw .syntax(offset: position) }
    return JSON.Object(unique: members)
  }

  /// Compares a few names one by one and uses a set for many, so that parsing stays linear for a
  /// hundred thousand members.
  private func refuseDuplicate(
    of name: UntrustedText, in members: [JSON.Object.Element], _ names: inout Set<UntrustedText>
  ) throws(JSONError) {
    if members.count < JSON.smallCount {
      for member in members where member.name == name { throw .duplicateMember(name) }
      return
    }
    if names.isEmpty { names = Set(members.lazy.map(\.name)) }
    guard names.insert(name).inserted else { throw .duplicateMember(name) }
  }

  private mutating func array(_ bytes: Span<UInt8>) throws(JSONError) -> [JSON] {
    try enter()
    var elements: [JSON] = []
    if closes(UInt8(ascii: "]"), bytes) { return elements }
    repeat {
      skipSpace(bytes)
      elements.append(try value(bytes))
      skipSpace(bytes)
    } while take(UInt8(ascii: ","), bytes)
    guard closes(UInt8(ascii: "]"), bytes) else { throw .syntax(offset: position) }
    return elements
  }

  private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSON.Number {
    let start = position
    _ = take(UInt8(ascii: "-"), bytes)
    if !take(UInt8(ascii: "0"), bytes) { try digits(bytes) }
    if take(UInt8(ascii: "."), bytes) { try digits(bytes) }
    if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
      if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
      try digits(bytes)
    }
    return JSON.Number(checked: try text(bytes, start..<position))
  }

  private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
    let start = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    guard position > start else { throw .syntax(offset: position) }
  }

  private mutating func literal(
    _ word: StaticString, _ value: JSON, _ bytes: Span<UInt8>
  ) throws(JSONError) -> JSON {
    for scalar in word.description.utf8 {
      guard take(scalar, bytes) else { throw .syntax(offset: position) }
    }
    return value
  }
}

// MARK: - Strings

extension Parser {
  private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> UntrustedText {
    let start = position
    let string = try plainString(bytes)
    if let text = UntrustedText(checking: string) { return text }
    guard isRepairing else { throw .tooManyMarks(offset: start) }
    return UntrustedText(repairing: string)
  }

  private mutating func plainString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
    position += 1
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        let text = try text(bytes, start..<position)
        position += 1
        return text
      case UInt8(ascii: "\\"): return try escapedString(from: start, bytes)
      case 0..<0x20: throw .syntax(offset: position)
      default: position += 1
      }
    }
    throw .syntax(offset: position)
  }

  /// Parses the rest of a string from its first escape.
  private mutating func escapedString(
    from start: Int, _ bytes: Span<UInt8>
  ) throws(JSONError) -> String {
    var result = try text(bytes, start..<position)
    var runStart = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        result += try text(bytes, runStart..<position)
        position += 1
        return result
      case UInt8(ascii: "\\"):
        result += try text(bytes, runStart..<position)
        result.unicodeScalars.append(try escape(bytes))
        runStart = position
      case 0..<0x20: throw .syntax(offset: position)
      default: position += 1
      }
    }
    throw .syntax(offset: position)
  }

  private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
    let start = position
    position += 1
    guard position < bytes.count else { throw .syntax(offset: position) }
    let letter = bytes[position]
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(startedAt: start, bytes)
    default: throw .syntax(offset: start)
    }
  }

  private mutating func unicodeEscape(
    startedAt start: Int, _ bytes: Span<UInt8>
  ) throws(JSONError) -> Unicode.Scalar {
    let first = try hexadecimal(bytes)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let end = position
    if first < 0xDC00, take(UInt8(ascii: "\\"), bytes), take(UInt8(ascii: "u"), bytes) {
      let second = try hexadecimal(bytes)
      if 0xDC00...0xDFFF ~= second,
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return scalar
      }
    }
    guard isRepairing else { throw .syntax(offset: start) }
    position = end
    return "\u{FFFD}"
  }

  private mutating func hexadecimal(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard position < bytes.count,
        let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue
      else { throw .syntax(offset: position) }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONError) -> String {
    do throws(UTF8.ValidationError) {
      return String(copying: try UTF8Span(validating: bytes.extracting(range)))
    } catch {
      throw .invalidUTF8(offset: range.lowerBound + error.byteOffsets.lowerBound)
    }
  }
}

// MARK: - Advancing

extension Parser {
  private mutating func enter() throws(JSONError) {
    guard depth < maximumDepth else { throw .tooDeep }
    depth += 1
    position += 1
  }

  private mutating func closes(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    skipSpace(bytes)
    guard take(byte, bytes) else { return false }
    depth -= 1
    return true
  }

  private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        position += 1
      default: return
      }
    }
  }
}
