import Localization
import Templating

struct AreaChart: Sendable {
  struct Point: Sendable {
    let whole: Int
    let part: Int
  }

  /// Evenly spaced in time; a line needs at least two.
  let points: [Point]
  let ticks: [ChartTick]
  /// The positions of numbered flags, ascending, in hundredths of a percent of the width.
  var events: [Int] = []
  let label: Message
  /// Whether it's for a card, without the wholes and the numbers of flags.
  var isSmall = false

  var markup: Markup {
    let plot = ChartPlot(
      height: isSmall ? ChartPlot.smallHeight : 232,
      above: events.isEmpty ? ChartPlot.room : Self.roomForFlags,
      scale: ChartScale(upTo: points.map(\.whole).max() ?? 0), label: label, isSmall: isSmall)
    return plot.markup(ticks) { html in
      if isSmall {
        for part in 1...2 { html.line("g", y: plot.base * 100 - plot.span * 50 * part) }
      }
      drawLines(plot, &html)
      for (index, flag) in Self.flags(events).enumerated() {
        mark(events[index], flag: flag, index + 1, plot, &html)
      }
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
    if !isSmall { area("all", plot, &html, \.whole) }
    area("enr", plot, &html, \.part)
    if !isSmall { line("l2", plot, &html, \.whole) }
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

  private static let roomForFlags = 28

  /// The distance that keeps flags apart on a phone, in hundredths of a percent of the width.
  private static let apart = 700

  /// Returns where the flags are, which have their own places if events are near each other.
  static func flags(_ events: [Int]) -> [Int] {
    var flags: [Int] = []
    for event in events { flags.append(max(event, flags.last.map { $0 + apart } ?? 0)) }
    var limit = 10_000
    for index in flags.indices.reversed() {
      flags[index] = min(flags[index], limit)
      limit = flags[index] - apart
    }
    return flags
  }

  private func mark(
    _ event: Int, flag: Int, _ number: Int, _ plot: ChartPlot, _ html: inout HTML
  ) {
    html.raw("<line class=\"ev\" x1=\"")
    html.hundredths(flag)
    html.raw("%\" x2=\"")
    html.hundredths(event)
    html.raw("%\" y1=\"18\" y2=\"")
    html.number(plot.top)
    html.raw("\"/><line class=\"ev\" x1=\"")
    html.hundredths(event)
    html.raw("%\" x2=\"")
    html.hundredths(event)
    html.raw("%\" y1=\"")
    html.number(plot.top)
    html.raw("\" y2=\"")
    html.number(plot.base)
    html.raw("\"/><svg x=\"")
    html.hundredths(flag)
    html.raw("%\" overflow=\"visible\"><circle class=\"flag\" cy=\"9\" r=\"9\"/>")
    html.raw("<text class=\"m\" y=\"13.5\">")
    html.message(.value(.number(number)))
    html.raw("</text></svg> ")
  }

  /// The number of a flag, for the key.
  static func swatch(_ number: Int) -> Markup {
    var html = HTML()
    html.raw("<span class=\"flag\">")
    html.message(.value(.number(number)))
    html.raw("</span>")
    return html.markup
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
