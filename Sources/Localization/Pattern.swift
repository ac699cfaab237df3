/// The text of a message with the places of its arguments.
public struct Pattern: Sendable, Equatable {
  /// A part of a message.
  public enum Piece: Sendable, Equatable {
    /// Literal text.
    case text(String)
    /// The place of an argument.
    case argument(String)
  }

  /// The parts, in order.
  public let pieces: [Piece]

  /// Parses text in Python's brace format: `{name}` is an argument, `{{` and `}}` are braces.
  ///
  /// - Throws: A ``CatalogError/Problem`` for an unmatched brace or an argument without a name.
  init(_ text: String) throws(CatalogError.Problem) {
    let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
    let bytes = text.utf8
    var pieces: [Piece] = []
    var literal = ""
    var rest = bytes[...]
    while let brace = rest.firstIndex(where: { $0 == open || $0 == close }) {
      literal += Substring(rest[..<brace])
      let (kind, after) = (bytes[brace], bytes.index(after: brace))
      rest = bytes[after...]
      if rest.first == kind {
        literal.unicodeScalars.append(Unicode.Scalar(kind))
        rest.removeFirst()
        continue
      }
      guard kind == open, let end = rest.firstIndex(of: close), Self.isName(rest[..<end]) else {
        throw .malformedArgument(text)
      }
      if !literal.isEmpty { pieces.append(.text(literal)) }
      literal = ""
      pieces.append(.argument(String(Substring(rest[..<end]))))
      rest = bytes[bytes.index(after: end)...]
    }
    literal += Substring(rest)
    if !literal.isEmpty || pieces.isEmpty { pieces.append(.text(literal)) }
    self.pieces = pieces
  }

  init(pieces: [Piece]) {
    self.pieces = pieces
  }

  /// The names of the arguments.
  public var arguments: Set<String> {
    Set(pieces.compactMap { if case .argument(let name) = $0 { name } else { nil } })
  }

  /// The text, if there are no arguments.
  var plain: String? {
    if pieces.count == 1, case .text(let text) = pieces[0] { text } else { nil }
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
