import Templating

/// Writes a small piece of markup whose fixed parts are literals and whose rest is escaped.
///
/// Templates make pages; this makes what repeats a thousand times or is a drawing.
struct HTML {
  private var bytes: [UInt8] = []

  init() {}

  /// The markup written so far.
  var markup: Markup { Markup(trusted: bytes) }

  /// Adds markup as it stands in the source, so never a value.
  mutating func raw(_ literal: StaticString) {
    bytes.append(contentsOf: literal.description.utf8)
  }

  /// Adds markup that was made before.
  mutating func add(_ markup: Markup) {
    bytes.append(contentsOf: markup.bytes)
  }

  /// Adds a whole number.
  mutating func number(_ number: Int) {
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Adds a text, escaped for content and for quoted attributes.
  mutating func text(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): raw("&amp;")
      case UInt8(ascii: "<"): raw("&lt;")
      case UInt8(ascii: ">"): raw("&gt;")
      case UInt8(ascii: "\""): raw("&quot;")
      case UInt8(ascii: "'"): raw("&#39;")
      default: bytes.append(byte)
      }
    }
  }

  /// A text as markup: escaped, and isolated from the direction of what stands around it.
  static func isolated(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<bdi>")
    html.text(text)
    html.raw("</bdi>")
    return html.markup
  }

  /// A text as markup, escaped.
  static func escaped(_ text: String) -> Markup {
    var html = HTML()
    html.text(text)
    return html.markup
  }
}
