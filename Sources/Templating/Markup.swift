public import Localization
import Text

/// Trusted HTML, with messages that are formatted when it's inserted.
///
/// Markup is inserted into a page without escaping, by any tag. Create it only from a literal, from
/// the output of another template, or from that of a safe renderer, never from user input.
public struct Markup: Sendable, Equatable {
  enum Piece: Sendable, Equatable {
    case bytes([UInt8])
    /// A message as HTML; otherwise its text is escaped.
    case message(Message, isHTML: Bool)
  }

  fileprivate final class Pieces: Sendable, Equatable {
    let all: [Piece]

    init(_ all: [Piece]) { self.all = all }

    static func == (left: Pieces, right: Pieces) -> Bool { left.all == right.all }
  }

  fileprivate let literal: [UInt8]
  /// Nil for markup without messages, which is nearly all.
  fileprivate let pieces: Pieces?

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

  fileprivate init(_ pieces: [Piece]) {
    literal = []
    self.pieces = Pieces(pieces)
  }

  /// Joins pieces of markup.
  public init(joining parts: [Markup], separator: Markup = "") {
    var html = Interpolation()
    for (index, part) in parts.enumerated() {
      if index > 0 { html.add(separator) }
      html.add(part)
    }
    self = html.markup
  }

  /// Whether nothing is inserted.
  public var isEmpty: Bool { pieces == nil && literal.isEmpty }

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

/// Markup written as a literal, which escapes the texts in it: `"<bdi>\(name)</bdi>"`.
extension Markup: ExpressibleByStringInterpolation {
  /// Creates markup without values.
  ///
  /// A `StaticString` is always a source literal, which keeps other strings out.
  public init(stringLiteral html: StaticString) {
    self.init(trusted: html.description)
  }

  /// Creates markup with interpolated values.
  public init(stringInterpolation html: Interpolation) {
    self = html.markup
  }

  /// Builds markup piece by piece.
  ///
  /// It's for drawings and for markup that repeats many times on a page; pages are templates.
  public struct Interpolation: StringInterpolationProtocol {
    private var bytes: [UInt8] = []
    /// What was written up to the last message; usually empty.
    private var pieces: [Markup.Piece] = []

    /// Starts with nothing.
    public init() {}

    /// Starts with nothing.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// What was added.
    public var markup: Markup {
      pieces.isEmpty ? Markup(trusted: bytes) : Markup(pieces + [.bytes(bytes)])
    }

    /// Adds markup, such as a literal.
    public mutating func add(_ markup: Markup) {
      guard let added = markup.pieces else { return bytes.append(contentsOf: markup.literal) }
      pieces += [.bytes(bytes)] + added.all
      bytes = []
    }

    /// Adds a part of a literal.
    public mutating func appendLiteral(_ html: StaticString) {
      bytes.append(contentsOf: html.description.utf8)
    }

    /// Adds other markup.
    public mutating func appendInterpolation(_ markup: Markup) {
      add(markup)
    }

    /// Adds a message, escaped.
    public mutating func appendInterpolation(_ message: Message) {
      add(Markup(escaping: message))
    }

    /// Adds an integer in decimal.
    public mutating func appendInterpolation(_ number: Int) {
      bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds text, escaped for content and quoted attributes.
    public mutating func appendInterpolation(_ text: String) {
      bytes.append(contentsOf: text.escapedForHTML.utf8)
    }
  }
}
