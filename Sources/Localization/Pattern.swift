/// The text of a message with the places of its arguments.
public struct Pattern: Sendable, Equatable {
  /// A part of a message.
  public enum Piece: Sendable, Equatable {
    /// Literal text.
    case text(String)
    /// The place of an argument.
    case argument(String)
  }

  enum Part {
    case text(Substring)
    case argument(Substring)
  }

  /// The parts, in order.
  public let pieces: [Piece]

  /// Parses text in Python's brace format: `{name}` is an argument, `{{` and `}}` are braces.
  ///
  /// - Throws: A ``CatalogError/Problem`` for an unmatched brace or an argument without a name.
  init(validating text: String) throws(CatalogError.Problem) {
    let (pieces, isValid) = Self.parsed(text)
    guard isValid else { throw .malformedArgument(text) }
    self.pieces = pieces
  }

  /// Parses the text of a message of the code.
  init(english text: String) {
    let (pieces, isValid) = Self.parsed(text)
    assert(isValid, "“\(text)” has a brace outside an argument")
    self.pieces = pieces
  }

  init(pieces: [Piece]) {
    self.pieces = pieces
  }

  private static func parsed(_ text: String) -> (pieces: [Piece], isValid: Bool) {
    var pieces: [Piece] = []
    let isValid = read(text) { part in
      switch part {
      case .text(let text):
        if case .text(let last) = pieces.last {
          pieces[pieces.count - 1] = .text(last + text)
        } else {
          pieces.append(.text(String(text)))
        }
      case .argument(let name): pieces.append(.argument(String(name)))
      }
    }
    if pieces.isEmpty { pieces.append(.text("")) }
    return (pieces, isValid)
  }

  /// Calls a function for each part of a text; returns false for an unmatched brace or an argument
  /// without a name.
  static func read(_ text: String, _ body: (Part) -> Void) -> Bool {
    let bytes = text.utf8
    var rest = bytes[...]
    while let brace = rest.firstIndex(where: isBrace) {
      let (kind, after) = (bytes[brace], bytes.index(after: brace))
      let literal = rest[..<brace]
      rest = bytes[after...]
      if rest.first == kind {
        rest.removeFirst()
        body(.text(Substring(bytes[literal.startIndex..<after])))
        continue
      }
      if !literal.isEmpty { body(.text(Substring(literal))) }
      guard kind == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")),
        isName(rest[..<end])
      else { return false }
      body(.argument(Substring(rest[..<end])))
      rest = bytes[bytes.index(after: end)...]
    }
    if !rest.isEmpty { body(.text(Substring(rest))) }
    return true
  }

  /// The names of the arguments.
  public var arguments: Set<String> {
    Set(pieces.compactMap { if case .argument(let name) = $0 { name } else { nil } })
  }

  /// The text, with the names of arguments in braces.
  var text: String {
    pieces.reduce(into: "") { text, piece in
      switch piece {
      case .text(let literal): text += literal
      case .argument(let name): text += "{\(name)}"
      }
    }
  }

  /// The HTML tags of the text, sorted.
  var tags: [String] {
    pieces.flatMap { piece in
      if case .text(let text) = piece {
        text.matches(of: /<\/?[a-z][^>]*>/).map { String($0.0) }
      } else {
        [String]()
      }
    }.sorted()
  }

  static func isBrace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
  }

  /// Dots go into an object of a template's model.
  private static func isName(_ bytes: Substring.UTF8View) -> Bool {
    func isStart(_ byte: UInt8) -> Bool {
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: byte == UInt8(ascii: "_")
      }
    }
    guard let first = bytes.first, isStart(first) else { return false }
    return bytes.allSatisfy {
      isStart($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
    }
  }
}

/// Isolates names, so that they can't change the direction of the text around them.
public enum Isolation {
  /// Returns a name between direction isolates; a name in ASCII needs none.
  ///
  /// Direction controls in the name are dropped because one of them could end the isolation.
  public static func isolated(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    var text = String.UnicodeScalarView()
    text.append("\u{2068}")
    for scalar in name.unicodeScalars where !isDirectionControl(scalar) { text.append(scalar) }
    text.append("\u{2069}")
    return String(text)
  }

  /// Returns a text without direction controls that would have an effect after its end: pairs of
  /// isolates stay, and all other controls are dropped.
  ///
  /// The `bdi` element doesn't contain them: an isolate that starts in it and doesn't end takes the
  /// element's end for its own.
  ///
  /// - Parameter text: The text of a `bdi` element.
  /// - Returns: The text, shorter if it had such controls.
  public static func contained(_ text: String) -> String {
    guard text.utf8.contains(0xE2), text.unicodeScalars.contains(where: isDirectionControl) else {
      return text
    }
    var kept: [Unicode.Scalar] = []
    var open: [Int] = []
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x202A...0x202E: continue
      case 0x2066...0x2068: open.append(kept.count)
      case 0x2069: guard open.popLast() != nil else { continue }
      default: break
      }
      kept.append(scalar)
    }
    let unclosed = Set(open)
    var result = String.UnicodeScalarView()
    for (index, scalar) in kept.enumerated() where !unclosed.contains(index) {
      result.append(scalar)
    }
    return String(result)
  }

  private static func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
