import Localization
import Templating

struct ChartTick: Sendable {
  /// The position in hundredths of a percent of the width, 0 to 10,000.
  let position: Int
  let label: Message

  /// At most `most` labels for evenly spaced columns, the first and the last included.
  static func columns(_ labels: [Message], most: Int = 4) -> [ChartTick] {
    let last = labels.count - 1
    guard last > 0 else { return labels.map { ChartTick(position: 0, label: $0) } }
    let count = min(most, labels.count)
    return (0..<count).map { index in
      let column = index * last / (count - 1)
      let position =
        column == 0 ? 0 : column == last ? 10_000 : (column * 2 + 1) * 5_000 / labels.count
      return ChartTick(position: position, label: labels[column])
    }
  }

  /// At most `most` labels for evenly spaced points, the first and the last at the edges.
  static func points(_ labels: [Message], most: Int = 5) -> [ChartTick] {
    let last = labels.count - 1
    guard last > 0 else { return labels.map { ChartTick(position: 0, label: $0) } }
    let count = min(most, labels.count)
    return (0..<count).map { index in
      let point = index * last / (count - 1)
      return ChartTick(position: point * 10_000 / last, label: labels[point])
    }
  }
}

/// The area of a chart: its height in pixels, between room for a mark above and labels below.
///
/// Shapes stretch by percentages, and text keeps its size. The horizontal axis is a time axis or one
/// of intervals, so it isn't mirrored in right-to-left text.
struct ChartPlot {
  let height: Int
  /// The room for marks above the plot.
  var above = ChartPlot.room
  let scale: ChartScale
  let label: Message
  /// Whether it's for a card, without the axis of numbers.
  var isSmall = false

  static let room = 12
  static let smallHeight = 104
  private static let below = 22

  var span: Int { height - above - Self.below }
  /// The baseline in pixels from the top.
  var base: Int { height - Self.below }
  var top: Int { above }

  /// The vertical position of a number in hundredths of a pixel.
  func y(_ value: Int) -> Int { base * 100 - scale.hundredths(of: value, length: span) }

  /// The data of a line through points, which are in hundredths.
  static func path(_ points: [(x: Int, y: Int)]) -> Markup {
    var html = HTML()
    for (index, point) in points.enumerated() {
      html.add("\(index == 0 ? "M" : " ")\(hundredths: point.x) \(hundredths: point.y)")
    }
    return html.markup
  }

  func markup(_ ticks: [ChartTick], _ marks: (inout HTML) -> Void) -> Markup {
    var html = HTML()
    guard !isSmall else {
      html.openChart(height: height, label)
      html.line("g g0", y: y(0))
      marks(&html)
      html.labels(ticks, y: height - 4)
      html.add("</svg>")
      return html.markup
    }
    // The letters of the axis can't stretch their column, because it's a drawing.
    let name = scale.top < 10_000 ? "y" : scale.top < 1_000_000 ? "y long" : "y longer"
    html.add(
      #"<div class="plot"><svg class="\#(name)" height="\#(height)" aria-hidden="true">"#)
    for tick in scale.ticks { html.mark(.value(.number(tick)), y: y(tick) + 450) }
    html.add("</svg>")
    html.openChart(height: height, label)
    for tick in scale.ticks {
      html.line(tick == 0 ? "g g0" : "g", y: y(tick))
    }
    marks(&html)
    html.labels(ticks, y: height - 4)
    html.add("</svg></div>")
    return html.markup
  }
}

extension HTML {
  /// Adds hundredths as a decimal number without trailing zeros.
  mutating func appendInterpolation(hundredths number: Int) {
    let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: 100)
    let decimals =
      rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest % 10 == 0 ? rest / 10 : rest)"
    appendInterpolation("\(number < 0 ? "-" : "")\(whole)\(decimals)")
  }

  mutating func openChart(height: Int, _ label: Message, class name: String = "c") {
    add(#"<svg class="\#(name)" height="\#(height)" role="img" aria-label="\#(label)">"#)
  }

  /// Adds a label of a vertical axis, at the end of its column; `y` is in hundredths of a pixel.
  mutating func mark(_ label: Message, y: Int) {
    add(#"<text class="e" x="100%" y="\#(hundredths: y)">\#(label)</text> "#)
  }

  /// Adds a horizontal line; `y` is in hundredths of a pixel.
  mutating func line(_ name: String, y: Int) {
    add(
      #"<line class="\#(name)" x1="0" x2="100%" y1="\#(hundredths: y)" y2="\#(hundredths: y)"/>"#)
  }

  /// Adds the labels of a horizontal axis; the first and the last don't stick out.
  mutating func labels(_ ticks: [ChartTick], y: Int) {
    for tick in ticks {
      let name: Markup =
        tick.position >= 10_000 ? #" class="e""# : tick.position > 0 ? #" class="m""# : ""
      add(#"<text\#(name) x="\#(hundredths: tick.position)%" y="\#(y)">\#(tick.label)</text> "#)
    }
  }

  /// Adds a rectangle; `x` and `width` are in hundredths of a percent, `y` and `height` of a pixel.
  mutating func rectangle(_ look: Markup, x: Int, y: Int, width: Int, height: Int) {
    add(
      #"""
      <rect\#(look) x="\#(hundredths: x)%" y="\#(hundredths: y)" width="\#(hundredths: width)%"\#
       height="\#(hundredths: height)"/>
      """#)
  }
}

/// A vertical scale of counts from zero, with ticks at round numbers.
struct ChartScale: Equatable, Sendable {
  let step: Int
  /// The number at the top, a multiple of `step`.
  let top: Int

  init(upTo largest: Int) {
    let largest = max(largest, 1)
    var unit = 1
    while unit * 40 <= largest { unit *= 10 }
    step = ([1, 2, 3, 4, 5].map { $0 * unit }.first { $0 * 4 >= largest }) ?? unit * 10
    top = (largest + step - 1) / step * step
  }

  var ticks: [Int] { Array(stride(from: 0, through: top, by: step)) }

  /// The part of the axis that a number takes up, in hundredths of `length`.
  func hundredths(of value: Int, length: Int) -> Int { value * length * 100 / top }
}

/// How the parts of a chart are filled: by a pattern and by a color, so that either is sufficient.
enum ChartFill: CaseIterable, Sendable {
  /// Accepted codes: green and solid.
  case accepted
  /// Correct codes outside the window: amber with a diagonal hatch.
  case outside
  /// Incorrect or reused codes: red and crossed.
  case rejected
  /// Codes that weren't checked because codes are locked: gray with horizontal lines.
  case locked
  case enrolled
  case all

  /// The fills of code attempts, from the baseline up.
  static let results: [ChartFill] = [.accepted, .outside, .rejected, .locked]

  /// The patterns of one chart, whose name makes their IDs unique on a page.
  static func patterns(_ name: String) -> Markup {
    var html = HTML()
    html.add("<defs>")
    for fill in results {
      guard let letter = fill.letter, let lines = fill.lines else { continue }
      html.add(
        #"""
        <pattern id="\#(letter)-\#(name)" width="6" height="6" patternUnits="userSpaceOnUse">\#
        <rect class="\#(fill.name)" width="6" height="6"/>\#
        <path class="hat" d="\#(lines)"/></pattern>
        """#)
    }
    html.add("</defs>")
    return html.markup
  }

  /// The attribute of a shape in a chart with these patterns; without, of one that has none.
  func look(in chart: String?) -> Markup {
    guard let letter, let chart else { return #" class="\#(name)""# }
    return #" fill="url(#\#(letter)-\#(chart))""#
  }

  var swatch: Markup {
    let corners: Markup = self == .rejected ? "" : #" rx="2""#
    let lines: Markup =
      switch self {
      case .accepted: ""
      case .outside: #"<path class="hat" d="M0 9 9 0M4 12 12 4"/>"#
      case .rejected: #"<path class="hat" d="M0 0 12 12M0 12 12 0"/>"#
      case .locked: #"<path class="hat" d="M0 4H12M0 8H12"/>"#
      case .enrolled: #"<path class="l" d="M0 1H12"/>"#
      case .all: #"<path class="l2" d="M0 1H12"/>"#
      }
    return #"""
      <svg aria-hidden="true"><rect class="\#(name)" width="12" height="12"\#(corners)/>\#
      \#(lines)</svg>
      """#
  }

  private var name: String {
    switch self {
    case .accepted: "f-ok"
    case .outside: "f-out"
    case .rejected: "f-bad"
    case .locked: "f-lock"
    case .enrolled: "enr"
    case .all: "all"
    }
  }

  /// The start of the ID of the fill's pattern; nil for a solid fill.
  private var letter: String? {
    switch self {
    case .outside: "h"
    case .rejected: "x"
    case .locked: "s"
    case .accepted, .enrolled, .all: nil
    }
  }

  private var lines: String? {
    switch self {
    case .outside: "M-1 4 4 -1M2 7 7 2"
    case .rejected: "M0 0 6 6M0 6 6 0"
    case .locked: "M0 1.5H6M0 4.5H6"
    case .accepted, .enrolled, .all: nil
    }
  }
}
