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
      html.add(#"<circle class="end" r="4" cx="4" cy="\#(hundredths: plot.y(points[0].part))"/>"#)
    }
  }

  // The lines stretch with the width, but not their strokes.
  private func drawLines(_ plot: ChartPlot, _ html: inout HTML) {
    guard points.count > 1 else { return }
    html.add(
      #"""
      <svg y="\#(plot.top)" width="100%" height="\#(plot.span)" viewBox="0 0 100 100"\#
       preserveAspectRatio="none" overflow="visible">
      """#)
    if !isSmall { area("all", plot, &html, \.whole) }
    area("enr", plot, &html, \.part)
    if !isSmall { line("l2", plot, &html, \.whole) }
    line("l", plot, &html, \.part)
    html.add("</svg>")
  }

  private func area(
    _ name: String, _ plot: ChartPlot, _ html: inout HTML, _ value: KeyPath<Point, Int>
  ) {
    html.add(#"<path class="\#(name)" d="\#(path(plot, value)) 100 100 0 100Z"/>"#)
  }

  private func line(
    _ name: String, _ plot: ChartPlot, _ html: inout HTML, _ value: KeyPath<Point, Int>
  ) {
    html.add(#"<path class="\#(name)" d="\#(path(plot, value))"/>"#)
  }

  private func path(_ plot: ChartPlot, _ value: KeyPath<Point, Int>) -> Markup {
    ChartPlot.path(
      points.enumerated().map { index, point in
        (
          index * 10_000 / (points.count - 1),
          10_000 - plot.scale.hundredths(of: point[keyPath: value], length: 100)
        )
      })
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
    html.add(
      #"""
      <line class="ev" x1="\#(hundredths: flag)%" x2="\#(hundredths: event)%" y1="18"\#
       y2="\#(plot.top)"/>\#
      <line class="ev" x1="\#(hundredths: event)%" x2="\#(hundredths: event)%"\#
       y1="\#(plot.top)" y2="\#(plot.base)"/>\#
      <svg x="\#(hundredths: flag)%" overflow="visible"><circle class="flag" cy="9" r="9"/>\#
      <text class="m" y="13.5">\#(Message.value(.number(number)))</text></svg>\#u{20}
      """#)
  }

  /// The number of a flag, for the key.
  static func swatch(_ number: Int) -> Markup {
    #"<span class="flag">\#(Message.value(.number(number)))</span>"#
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
      return HTML.none
    }
    let (low, high) = (percents.min() ?? 0, percents.max() ?? 0)
    // A line that moves by less than 30 points doesn't fill the height, so that noise looks like it.
    let span = max(high - low, 30)
    func y(_ percent: Int) -> Int { 2_100 - (percent - low) * 1_700 / span }
    let line = ChartPlot.path(
      percents.enumerated().map { index, percent in
        (200 + index * 9_000 / (percents.count - 1), y(percent))
      })
    return #"""
      <svg class="spark" viewBox="0 0 96 24" role="img"\#
       aria-label="\#(label(share(first), share(last)))"><path class="l" d="\#(line)"/>\#
      <circle class="end" cx="92" cy="\#(hundredths: y(last))" r="3.5"/></svg>
      """#
  }

  private static func share(_ percent: Int) -> Message.Value { .percent(Double(percent) / 100) }
}
