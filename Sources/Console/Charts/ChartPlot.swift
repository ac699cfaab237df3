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

  func markup(_ ticks: [ChartTick], _ marks: (inout HTML) -> Void) -> Markup {
    var html = HTML()
    guard !isSmall else {
      html.openChart(height: height, label)
      html.line("g g0", y: y(0))
      marks(&html)
      html.labels(ticks, y: height - 4)
      html.raw("</svg>")
      return html.markup
    }
    html.raw("<div class=\"plot\"><svg class=\"")
    // The letters of the axis can't stretch their column, because it's a drawing.
    html.raw(scale.top < 10_000 ? "y" : scale.top < 1_000_000 ? "y long" : "y longer")
    html.raw("\" height=\"")
    html.number(height)
    html.raw("\" aria-hidden=\"true\">")
    for tick in scale.ticks {
      html.raw("<text class=\"e\" x=\"100%\" y=\"")
      html.hundredths(y(tick) + 450)
      html.raw("\">")
      html.message(.value(.number(tick)))
      html.raw("</text> ")
    }
    html.raw("</svg>")
    html.openChart(height: height, label)
    for tick in scale.ticks {
      html.line(tick == 0 ? "g g0" : "g", y: y(tick))
    }
    marks(&html)
    html.labels(ticks, y: height - 4)
    html.raw("</svg></div>")
    return html.markup
  }
}

extension HTML {
  /// Adds hundredths as a decimal number without trailing zeros.
  mutating func hundredths(_ number: Int) {
    if number < 0 { raw("-") }
    let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: 100)
    self.number(Int(whole))
    guard rest > 0 else { return }
    raw(rest < 10 ? ".0" : ".")
    self.number(Int(rest % 10 == 0 ? rest / 10 : rest))
  }

  mutating func openChart(height: Int, _ label: Message, class name: StaticString = "c") {
    raw("<svg class=\"")
    raw(name)
    raw("\" height=\"")
    number(height)
    raw("\" role=\"img\" aria-label=\"")
    message(label)
    raw("\">")
  }

  /// Adds a horizontal line; `y` is in hundredths of a pixel.
  mutating func line(_ name: StaticString, y: Int) {
    raw("<line class=\"")
    raw(name)
    raw("\" x1=\"0\" x2=\"100%\" y1=\"")
    hundredths(y)
    raw("\" y2=\"")
    hundredths(y)
    raw("\"/>")
  }

  /// Adds the labels of a horizontal axis; the first and the last don't stick out.
  mutating func labels(_ ticks: [ChartTick], y: Int) {
    for tick in ticks {
      raw("<text")
      if tick.position >= 10_000 {
        raw(" class=\"e\"")
      } else if tick.position > 0 {
        raw(" class=\"m\"")
      }
      raw(" x=\"")
      hundredths(tick.position)
      raw("%\" y=\"")
      number(y)
      raw("\">")
      message(tick.label)
      raw("</text> ")
    }
  }

  /// Adds a rectangle; `x` and `width` are in hundredths of a percent, `y` and `height` of a pixel.
  mutating func rectangle(x: Int, y: Int, width: Int, height: Int) {
    raw(" x=\"")
    hundredths(x)
    raw("%\" y=\"")
    hundredths(y)
    raw("\" width=\"")
    hundredths(width)
    raw("%\" height=\"")
    hundredths(height)
    raw("\"/>")
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
  static func patterns(_ name: StaticString) -> Markup {
    var html = HTML()
    html.raw("<defs>")
    for fill in results {
      guard let letter = fill.letter, let lines = fill.lines else { continue }
      html.raw("<pattern id=\"")
      html.raw(letter)
      html.raw("-")
      html.raw(name)
      html.raw(
        "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"")
      html.raw(fill.name)
      html.raw("\" width=\"6\" height=\"6\"/><path class=\"hat\" d=\"")
      html.raw(lines)
      html.raw("\"/></pattern>")
    }
    html.raw("</defs>")
    return html.markup
  }

  func add(to html: inout HTML, of chart: StaticString) {
    guard let letter else {
      html.raw(" class=\"")
      html.raw(name)
      return html.raw("\"")
    }
    html.raw(" fill=\"url(#")
    html.raw(letter)
    html.raw("-")
    html.raw(chart)
    html.raw(")\"")
  }

  var swatch: Markup {
    var html = HTML()
    html.raw("<svg aria-hidden=\"true\"><rect class=\"")
    html.raw(name)
    html.raw("\" width=\"12\" height=\"12\"")
    html.raw(self == .rejected ? "/>" : " rx=\"2\"/>")
    switch self {
    case .accepted: break
    case .outside: html.raw("<path class=\"hat\" d=\"M0 9 9 0M4 12 12 4\"/>")
    case .rejected: html.raw("<path class=\"hat\" d=\"M0 0 12 12M0 12 12 0\"/>")
    case .locked: html.raw("<path class=\"hat\" d=\"M0 4H12M0 8H12\"/>")
    case .enrolled: html.raw("<path class=\"l\" d=\"M0 1H12\"/>")
    case .all: html.raw("<path class=\"l2\" d=\"M0 1H12\"/>")
    }
    html.raw("</svg>")
    return html.markup
  }

  private var name: StaticString {
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
  private var letter: StaticString? {
    switch self {
    case .outside: "h"
    case .rejected: "x"
    case .locked: "s"
    case .accepted, .enrolled, .all: nil
    }
  }

  private var lines: StaticString? {
    switch self {
    case .outside: "M-1 4 4 -1M2 7 7 2"
    case .rejected: "M0 0 6 6M0 6 6 0"
    case .locked: "M0 1.5H6M0 4.5H6"
    case .accepted, .enrolled, .all: nil
    }
  }
}
