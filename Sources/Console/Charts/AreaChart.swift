import Localization
import Templating

struct AreaChart: Sendable {
  struct Point: Sendable {
    let whole: Int
    let part: Int
  }

  struct Event: Sendable {
    /// The position in hundredths of a percent of the width.
    let position: Int
    let text: Message
  }

  /// Evenly spaced in time; a line needs at least two.
  let points: [Point]
  let ticks: [ChartTick]
  var events: [Event] = []
  let label: Message

  var markup: Markup {
    let plot = ChartPlot(
      height: 232, scale: ChartScale(upTo: points.map(\.whole).max() ?? 0), label: label)
    return plot.markup(ticks) { html in
      drawLines(plot, &html)
      for (index, event) in events.enumerated() { mark(event, index, plot, &html) }
      guard points.count == 1 else { return }
      html.raw("<circle class=\"end\" r=\"4\" cx=\"4\" cy=\"")
      html.hundredths(plot.y(points[0].part))
      html.raw("\"/>")
    }
  }

  // The lines stretch with the width, but not their strokes.
  private func drawLines(_ plot: ChartPlot, _ html: inout HTML) {
    guard points.count > 1 else { return }
    html.raw("<svg y=\"")
    html.number(plot.top)
    html.raw("\" width=\"100%\" height=\"")
    html.number(plot.span)
    html.raw("\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" overflow=\"visible\">")
    area("all", plot, &html, \.whole)
    area("enr", plot, &html, \.part)
    line("l2", plot, &html, \.whole)
    line("l", plot, &html, \.part)
    html.raw("</svg>")
  }

  private func area(
    _ name: StaticString, _ plot: ChartPlot, _ html: inout HTML, _ value: KeyPath<Point, Int>
  ) {
    html.raw("<path class=\"")
    html.raw(name)
    path(plot, &html, value)
    html.raw(" 100 100 0 100Z\"/>")
  }

  private func line(
    _ name: StaticString, _ plot: ChartPlot, _ html: inout HTML, _ value: KeyPath<Point, Int>
  ) {
    html.raw("<path class=\"")
    html.raw(name)
    path(plot, &html, value)
    html.raw("\"/>")
  }

  private func path(_ plot: ChartPlot, _ html: inout HTML, _ value: KeyPath<Point, Int>) {
    html.raw("\" d=\"M")
    for (index, point) in points.enumerated() {
      if index > 0 { html.raw(" ") }
      html.hundredths(index * 10_000 / (points.count - 1))
      html.raw(" ")
      html.hundredths(10_000 - plot.scale.hundredths(of: point[keyPath: value], length: 100))
    }
  }

  private func mark(_ event: Event, _ index: Int, _ plot: ChartPlot, _ html: inout HTML) {
    let isLate = event.position > 5_000
    html.raw("<line class=\"ev\" x1=\"")
    html.hundredths(event.position)
    html.raw("%\" x2=\"")
    html.hundredths(event.position)
    html.raw("%\" y1=\"")
    html.number(plot.top)
    html.raw("\" y2=\"")
    html.number(plot.base)
    html.raw("\"/><svg x=\"")
    html.hundredths(event.position)
    html.raw("%\" overflow=\"visible\"><text class=\"")
    html.raw(isLate ? "v e\" x=\"-8" : "v\" x=\"8")
    // A halo, so that the lines of other events don't strike the label through.
    html.raw("\" paint-order=\"stroke\" stroke=\"Canvas\" stroke-width=\"5")
    // Events near each other are labeled one above the other.
    html.raw("\" y=\"")
    html.number(plot.base - 10 - 18 * (index % 4))
    html.raw("\">")
    html.message(event.text)
    html.raw("</text></svg>")
  }
}

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
