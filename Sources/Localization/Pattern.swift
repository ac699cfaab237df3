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
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) else {
      pieces = [.text(text)]
      return
    }
    var pieces: [Piece] = []
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        literal.append(character)
        rest.removeFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}"), Self.isName(rest[..<end]) else {
          throw .malformedArgument(text)
        }
        if !literal.isEmpty { pieces.append(.text(literal)) }
        literal = ""
        pieces.append(.argument(String(rest[..<end])))
        rest = rest[rest.index(after: end)...]
      case "}":
        throw .malformedArgument(text)
      default:
        literal.append(character)
      }
    }
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
  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter || first == "_" else {
      return false
    }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
  }
}
