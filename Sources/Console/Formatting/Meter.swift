import Localization
import Templating

enum Meter {
  /// The share as a bar and a percentage; a dash if the whole is zero.
  static func share(_ part: Int, of whole: Int) -> Markup {
    guard whole > 0 else { return HTML.none }
    if part > 0, part * 100 < whole { return few }
    return whole == part ? percents[100] : percents[min(max(part * 100 / whole, 0), 99)]
  }

  static func percent(_ part: Int, of whole: Int) -> Message {
    guard whole > 0 else { return .verbatim("–") }
    if part > 0, part * 100 < whole { return lessThanOne }
    return .value(.percent(Double(min(part * 100 / whole, 100)) / 100))
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
