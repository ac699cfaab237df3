import Localization
import Templating

enum Sparkline {
  /// Draws whole percentages at evenly spaced times, oldest first; a dash if there is nothing to
  /// compare.
  ///
  /// `label` returns the text alternative for the first and the last percentage.
  static func markup(_ percents: [Int], label: (Message.Value, Message.Value) -> Message) -> Markup
  {
    guard percents.count > 1, let first = percents.first, let last = percents.last else {
      return none
    }
    let (low, high) = (percents.min() ?? 0, percents.max() ?? 0)
    // A line that moves by less than 30 points doesn't fill the height, so that noise looks like it.
    let span = max(high - low, 30)
    func y(_ percent: Int) -> Int { 2_100 - (percent - low) * 1_700 / span }
    var html = HTML()
    html.raw("<svg class=\"spark\" viewBox=\"0 0 96 24\" role=\"img\" aria-label=\"")
    html.message(label(share(first), share(last)))
    html.raw("\"><path class=\"l\" d=\"M")
    for (index, percent) in percents.enumerated() {
      if index > 0 { html.raw(" ") }
      html.hundredths(200 + index * 9_000 / (percents.count - 1))
      html.raw(" ")
      html.hundredths(y(percent))
    }
    html.raw("\"/><circle class=\"end\" cx=\"92\" cy=\"")
    html.hundredths(y(last))
    html.raw("\" r=\"3.5\"/></svg>")
    return html.markup
  }

  private static func share(_ percent: Int) -> Message.Value { .percent(Double(percent) / 100) }

  private static let none = Markup(trusted: "<span class=\"soft\">–</span>")
}
