import Localization
import Templating

/// A state as a word with a shape and a color; the word alone has to be sufficient.
enum Chip {
  static func on(_ word: some MessageConvertible) -> Markup {
    drawn("<span class=\"chip on\">", word.message)
  }
  static func off(_ word: some MessageConvertible) -> Markup {
    drawn("<span class=\"chip\">", word.message)
  }
  /// A state that needs attention.
  static func look(_ word: some MessageConvertible) -> Markup {
    drawn("<span class=\"chip warn\">", word.message)
  }
  static func bad(_ word: some MessageConvertible) -> Markup {
    drawn("<span class=\"chip bad\">", word.message)
  }

  private static func drawn(_ start: StaticString, _ word: Message) -> Markup {
    var html = HTML()
    html.raw(start)
    html.message(word)
    html.raw("</span>")
    return html.markup
  }
}
