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
  let scale: ChartScale
  let label: Message

  private static let room = (above: 12, below: 22)

  /// The height of the marks in pixels.
  var span: Int { height - Self.room.above - Self.room.below }
  /// The baseline in pixels from the top.
  var base: Int { height - Self.room.below }
  var top: Int { Self.room.above }

  /// The vertical position of a number in hundredths of a pixel.
  func y(_ value: Int) -> Int { base * 100 - scale.hundredths(of: value, length: span) }

  func markup(_ ticks: [ChartTick], _ marks: (inout HTML) -> Void) -> Markup {
    var html = HTML()
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
      html.raw("</text>")
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
      raw("</text>")
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
