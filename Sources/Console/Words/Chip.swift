import Templating

/// A state as a word with a shape and a color; the word alone has to be sufficient.
enum Chip {
  /// A state that is on or in order.
  static func on(_ word: String) -> Markup { drawn("<span class=\"chip on\">", word) }
  /// A state that is off.
  static func off(_ word: String) -> Markup { drawn("<span class=\"chip\">", word) }
  /// A state that needs attention.
  static func look(_ word: String) -> Markup { drawn("<span class=\"chip warn\">", word) }
  /// A state that is an error.
  static func bad(_ word: String) -> Markup { drawn("<span class=\"chip bad\">", word) }

  private static func drawn(_ start: StaticString, _ word: String) -> Markup {
    var html = HTML()
    html.raw(start)
    html.text(word)
    html.raw("</span>")
    return html.markup
  }
}
