import Text

/// The HTML of an email: a list of elements from an allow list, and text.
///
/// Anything else is left out: scripts, styles, forms, images, and all attributes but the address of
/// a link. The HTML is written anew from the list, so that what a parser might read differently
/// doesn't reach a mail program.
struct EmailHTML: Equatable, Sendable {
  /// A part of the HTML; start and end tags match each other.
  enum Token: Equatable, Sendable {
    /// The beginning of an element, or an element without content; a link has an address.
    case start(String, href: String? = nil)
    /// The end of an element.
    case end(String)
    /// Text, without escapes.
    case text(String)
  }

  /// Something that HTML of emails can't contain.
  enum Fault: Equatable, Sendable {
    /// An element that isn't allowed.
    case element(String)
    /// An attribute that isn't allowed, and its element.
    case attribute(String, of: String)
    /// The address of a link that isn't a website or an email address.
    case address(String)
  }

  let tokens: [Token]
  /// What was left out.
  let faults: [Fault]

  init(_ tokens: [Token]) {
    (self.tokens, faults) = (tokens, [])
  }

  /// Parses HTML.
  init(parsing text: String) {
    var parser = EmailHTMLParser(text)
    (tokens, faults) = parser.parse()
  }

  /// The elements that start a line of their own.
  static let blocks: Set<String> = [
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "table",
    "thead", "tbody", "tr", "hr",
  ]
  /// The elements without content.
  static let voids: Set<String> = ["br", "hr"]
  /// All elements that are allowed.
  static let elements: Set<String> = blocks.union(voids).union([
    "a", "b", "strong", "i", "em", "u", "s", "small", "code", "span", "th", "td",
  ])
  /// The elements of a whole document, whose tags are left out silently.
  static let document: Set<String> = ["html", "head", "body"]

  /// Whether a link may lead to an address: a website, an email address, or what ``link`` stands
  /// for.
  static func isAddress(_ text: String, link: String) -> Bool {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
    let start = text.prefix(8).lowercased()
    return text.hasPrefix(link)
      || ["https://", "http://", "mailto:"].contains { start.hasPrefix($0) }
  }

  /// The HTML.
  var html: String {
    var html = ""
    for token in tokens {
      switch token {
      case .start(let name, nil): html += "<\(name)>"
      case .start(let name, let href?): html += "<\(name) href=\"\(href.escapedForHTML)\">"
      case .end(let name): html += "</\(name)>"
      case .text(let text): html += text.escapedForHTML
      }
    }
    return html
  }
}

extension EmailHTML {
  /// Makes HTML of plain text: a paragraph for each block, and a link for each line that is one.
  init(text: String) {
    var tokens: [Token] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for block in lines.split(whereSeparator: { $0.allSatisfy(\.isWhitespace) }) {
      tokens.append(.start("p"))
      tokens += Self.inline(block.map(String.init), linksLines: true)
      tokens.append(.end("p"))
    }
    self.init(tokens)
  }

  /// Lines within a paragraph, each of which becomes a link if it's the address of a website.
  static func inline(_ lines: [String], linksLines: Bool) -> [Token] {
    var tokens: [Token] = []
    for (index, line) in lines.enumerated() {
      if index > 0 { tokens.append(.start("br")) }
      let isLink =
        linksLines && line.utf8.allSatisfy { $0 > 0x20 }
        && ["https://", "http://"].contains { line.hasPrefix($0) }
      if isLink { tokens.append(.start("a", href: line)) }
      tokens.append(.text(line))
      if isLink { tokens.append(.end("a")) }
    }
    return tokens
  }

}

extension MessageText {
  /// The style of ``document(in:)``.
  static let style = """
    :root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:38em;margin:1em}\
    a{overflow-wrap:anywhere}
    """

  /// The HTML as a separate document, readable in light and dark color schemes, which loads
  /// nothing.
  func document(in language: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="\((language.isEmpty ? "en" : language).escapedForHTML)" dir="auto">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <meta name="format-detection" content="telephone=no">
    <title>\(subject.escapedForHTML)</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    \(html.replacing("</p>", with: "</p>\n"))
    </body>
    </html>

    """
  }
}
