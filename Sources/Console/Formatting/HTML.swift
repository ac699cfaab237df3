import Localization
import Templating

typealias HTML = Markup.Interpolation

extension HTML {
  static let none = soft(.verbatim("–"))

  static func soft(_ text: Message) -> Markup { #"<span class="soft">\#(text)</span>"# }

  /// Escapes a text and isolates its direction from the surrounding text.
  static func isolated(_ text: String) -> Markup { "<bdi>\(text)</bdi>" }

  /// A monospaced value that the script adds a copy button to.
  static func copied(_ text: String) -> Markup {
    #"<span class="mono" data-copy>\#(text)</span>"#
  }
}

/// A state as a word with a shape and a color; the word alone has to be sufficient.
enum Chip {
  static func on(_ word: Message) -> Markup {
    #"<span class="chip on">\#(word)</span>"#
  }
  static func off(_ word: Message) -> Markup {
    #"<span class="chip">\#(word)</span>"#
  }
  /// A state that needs attention.
  static func look(_ word: Message) -> Markup {
    #"<span class="chip warn">\#(word)</span>"#
  }
  static func bad(_ word: Message) -> Markup {
    #"<span class="chip bad">\#(word)</span>"#
  }
  /// A name instead of a state.
  static func plain(_ name: Message) -> Markup {
    #"<span class="chip plain">\#(name)</span>"#
  }
  /// The next of several steps.
  static func next(_ word: Message) -> Markup {
    #"<span class="chip next">\#(word)</span>"#
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
    #"""
    <span class="meter"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\#
    <path d="M0 4h\#(width)"/></svg><span>\#(text)</span></span>
    """#
  }
}
