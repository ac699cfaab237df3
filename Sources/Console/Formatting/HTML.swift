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

  /// Escapes a text and isolates its direction from the surrounding text.
  static func isolated(_ text: String) -> Markup { within("<bdi>", text, "</bdi>") }

  /// A monospaced value that the script adds a copy button to.
  static func copied(_ text: String) -> Markup {
    within("<span class=\"mono\" data-copy>", text, "</span>")
  }

  /// A text in an element.
  static func within(_ start: StaticString, _ text: String, _ end: StaticString) -> Markup {
    var html = HTML()
    html.raw(start)
    html.text(text)
    html.raw(end)
    return html.markup
  }

  /// A message in a `span`.
  static func within(_ start: StaticString, _ message: Message) -> Markup {
    var html = HTML()
    html.raw(start)
    html.message(message)
    html.raw("</span>")
    return html.markup
  }

  static func escaped(_ text: String) -> Markup {
    var html = HTML()
    html.text(text)
    return html.markup
  }
}

/// A state as a word with a shape and a color; the word alone has to be sufficient.
enum Chip {
  static func on(_ word: Message) -> Markup {
    HTML.within("<span class=\"chip on\">", word)
  }
  static func off(_ word: Message) -> Markup {
    HTML.within("<span class=\"chip\">", word)
  }
  /// A state that needs attention.
  static func look(_ word: Message) -> Markup {
    HTML.within("<span class=\"chip warn\">", word)
  }
  static func bad(_ word: Message) -> Markup {
    HTML.within("<span class=\"chip bad\">", word)
  }
  /// The next of several steps.
  static func next(_ word: Message) -> Markup {
    HTML.within("<span class=\"chip next\">", word)
  }
}

enum Meter {
  /// A share as a percentage, rounded to the nearest: 100 is all, and 0 is less than 1.
  static func rounded(_ part: Int, of whole: Int) -> Int {
    guard part < whole else { return 100 }
    return part * 100 < whole ? 0 : min((part * 200 + whole) / (whole * 2), 99)
  }

  /// The share as a bar and a percentage; a dash if the whole is zero.
  static func share(_ part: Int, of whole: Int) -> Markup {
    guard whole > 0 else { return HTML.none }
    if part > 0, part * 100 < whole { return few }
    return percents[rounded(part, of: whole)]
  }

  static func percent(_ part: Int, of whole: Int) -> Message {
    guard whole > 0 else { return .verbatim("–") }
    if part > 0, part * 100 < whole { return lessThanOne }
    return .value(.percent(Double(rounded(part, of: whole)) / 100))
  }

  private static let lessThanOne = Message("< {share}", ["share": .percent(0.01)])
  private static let few = drawn(1, lessThanOne)
  private static let percents = (0...100).map { drawn($0, .value(.percent(Double($0) / 100))) }

  private static func drawn(_ width: Int, _ text: Message) -> Markup {
    var html = HTML()
    html.raw(
      "<span class=\"meter\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"M0 4h"
    )
    html.number(width)
    html.raw("\"/></svg><span>")
    html.message(text)
    html.raw("</span></span>")
    return html.markup
  }
}
