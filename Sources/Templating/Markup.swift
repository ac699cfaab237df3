public import Localization

/// Trusted HTML, with messages that are formatted when it's inserted.
///
/// Markup is inserted into a page without escaping, by any tag. Create it only from the output of
/// another template or of a safe renderer, never from user input.
public struct Markup: Sendable, Equatable {
  enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    /// A message as HTML; otherwise its text is escaped.
    case message(Message, isHTML: Bool)
  }

  private final class Pieces: Sendable, Equatable {
    let all: [Piece]

    init(_ all: [Piece]) { self.all = all }

    static func == (left: Pieces, right: Pieces) -> Bool { left.all == right.all }
  }

  private let literal: [UInt8]
  /// Nil for markup without messages, which is nearly all.
  private let pieces: Pieces?

  /// Marks text as trusted HTML.
  public init(trusted html: String) {
    self.init(trusted: Array(html.utf8))
  }

  /// Marks bytes, such as those of a rendered template, as trusted HTML in UTF-8.
  public init(trusted html: [UInt8]) {
    literal = html
    pieces = nil
  }

  /// Creates markup from a message, whose text is escaped.
  public init(escaping message: Message) {
    self.init([.message(message, isHTML: false)])
  }

  /// Creates markup from a message whose text in the catalog is HTML; only arguments are escaped.
  public init(html message: Message) {
    self.init([.message(message, isHTML: true)])
  }

  private init(_ pieces: [Piece]) {
    literal = []
    self.pieces = Pieces(pieces)
  }

  /// Joins pieces of markup.
  public init(joining parts: [Markup]) {
    if parts.allSatisfy({ $0.pieces == nil }) {
      self.init(trusted: parts.flatMap(\.literal))
    } else {
      self.init(parts.flatMap { $0.pieces?.all ?? [.bytes($0.literal)] })
    }
  }

  /// Whether nothing is inserted.
  public var isEmpty: Bool { pieces == nil && literal.isEmpty }

  /// The HTML in UTF-8, with the messages of a catalog.
  public func bytes(in catalog: Catalog) -> [UInt8] {
    guard pieces != nil else { return literal }
    var output = Output(reserving: 256)
    append(to: &output, catalog)
    return output.bytes
  }

  func append(to output: inout Output, _ catalog: Catalog) {
    guard let pieces else { return output.append(literal) }
    for piece in pieces.all {
      switch piece {
      case .bytes(let bytes): output.append(bytes)
      case .message(let message, isHTML: true): output.append(catalog.html(message))
      case .message(let message, isHTML: false): output.appendEscaped(catalog.text(message))
      }
    }
  }
}
