import Localization
import Templating
import Text

/// Builds a small piece of markup from literals and escaped text.
///
/// It's for drawings and for markup that repeats many times on a page; pages are templates.
struct HTML {
  private var bytes: [UInt8] = []
  /// What was written before the last message, and that message; usually empty.
  private var parts: [Markup] = []

  init() {}

  var markup: Markup {
    parts.isEmpty ? Markup(trusted: bytes) : Markup(joining: parts + [Markup(trusted: bytes)])
  }

  /// Adds literal markup; a `StaticString` can't contain untrusted values.
  mutating func raw(_ literal: StaticString) {
    bytes.append(contentsOf: literal.description.utf8)
  }

  mutating func add(_ markup: Markup) {
    parts += [Markup(trusted: bytes), markup]
    bytes = []
  }

  mutating func message(_ message: Message) {
    add(Markup(escaping: message))
  }

  mutating func number(_ number: Int) {
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Adds text, escaped for content and quoted attributes.
  mutating func text(_ text: String) {
    for byte in text.utf8 {
      if let reference = HTMLEscaping.reference(for: byte) {
        bytes.append(contentsOf: reference.utf8)
      } else {
        bytes.append(byte)
      }
    }
  }

  static let none = Markup(trusted: "<span class=\"soft\">–</span>")

  /// Escapes an address and isolates it; lines break after its punctuation.
  static func address(_ address: String) -> Markup {
    var html = HTML()
    html.raw("<bdi>")
    var isAfterMark = false
    for character in address {
      let isMark = "/?&.".contains(character)
      if isAfterMark, !isMark { html.raw("<wbr>") }
      html.text(String(character))
      isAfterMark = isMark
    }
    html.raw("</bdi>")
    return html.markup
  }

  /// Escapes a text and isolates its direction from the surrounding text.
  static func isolated(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<bdi>")
    html.text(text)
    html.raw("</bdi>")
    return html.markup
  }

  static func escaped(_ text: String) -> Markup {
    var html = HTML()
    html.text(text)
    return html.markup
  }
}
