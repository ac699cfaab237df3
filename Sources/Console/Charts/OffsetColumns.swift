import Localization
import Templating

/// Draws how many codes matched each interval from −10 to +10, above a window strip.
///
/// Successes are solid, confirmed near misses hatched outside the window and framed inside it, and
/// unconfirmed ones outlined above them. The scale is a square root, so that single codes are
/// visible next to thousands. Columns have the classes `d0` to `d10` by their distance from the
/// current interval, so that the choice of a window can recolor them; those in the window also have
/// the class `in`.
struct OffsetColumns: Sendable {
  struct Column: Sendable {
    var accepted = 0
    var confirmed = 0
    var unconfirmed = 0
  }

  /// 21 columns, from ten intervals late to ten intervals early.
  let columns: [Column]
  /// The adjacent intervals that the server draws as accepted; nil if no codes are accepted.
  let window: Int?
  let label: Message
  /// The name of the chart, unique on its page.
  let name: String

  private static let height = 188
  private static let top = 24
  private static let base = height - 4

  var markup: Markup {
    var html = HTML()
    html.openChart(height: Self.height, label, class: "c bars")
    html.add(ChartFill.patterns(name))
    html.line("g g0", y: Self.base * 100)
    let largest = columns.map { $0.accepted + $0.confirmed + $0.unconfirmed }.max() ?? 0
    for (index, column) in columns.enumerated() {
      add(column, at: index, largest: max(largest, 1), &html)
    }
    html.add("</svg>")
    return html.markup
  }

  private func add(_ column: Column, at index: Int, largest: Int, _ html: inout HTML) {
    let distance = abs(index - columns.count / 2)
    var sum = 0
    func y(_ value: Int) -> Int {
      let share = (Double(value) / Double(largest)).squareRoot()
      return Self.base * 100 - Int(share * Double((Self.base - Self.top) * 100))
    }
    let width = 10_000 / columns.count
    let x = index * 10_000 / columns.count
    func add(_ count: Int, _ look: Markup) {
      guard count > 0 else { return }
      let (bottom, top) = (y(sum), y(sum + count))
      sum += count
      html.rectangle(
        look, x: x + width * 14 / 100, y: top, width: width * 72 / 100,
        height: max(bottom - top, 60))
    }
    let place = "d\(distance)\(window.map { distance <= $0 } == true ? " in" : "")"
    add(column.accepted, #" class="b \#(place)""#)
    let below = sum
    add(column.confirmed, ChartFill.outside.look(in: name))
    // Over the hatch, so that a window that takes them in fills them.
    sum = below
    add(column.confirmed, #" class="near \#(place)""#)
    add(column.unconfirmed, #" class="ghost""#)
    guard sum > 0 else { return }
    html.add(
      #"""
      <text class="v m d\#(distance)" x="\#(hundredths: x + width / 2)%"\#
       y="\#(hundredths: y(sum) - 700)">\#(Message.value(.number(sum)))</text>\#u{20}
      """#)
  }
}

struct StackedColumns: Sendable {
  /// The fills from the baseline up.
  let fills: [ChartFill]
  /// The counts of each column, one for each fill.
  let columns: [[Int]]
  let ticks: [ChartTick]
  let label: Message
  /// The name of the chart, unique on its page.
  let name: String
  /// Whether it's for a card.
  var isSmall = false

  var markup: Markup {
    let totals = columns.map { $0.reduce(0, +) }
    let plot = ChartPlot(
      height: isSmall ? ChartPlot.smallHeight : 180, scale: ChartScale(upTo: totals.max() ?? 0),
      label: label, isSmall: isSmall)
    return plot.markup(ticks) { html in
      html.add(ChartFill.patterns(name))
      // One column isn't as wide as the page.
      let places = max(columns.count, isSmall ? 5 : 12)
      let width = 10_000 / places
      for (index, counts) in columns.enumerated() {
        let x = index * 10_000 / places
        var sum = 0
        for (fill, count) in zip(fills, counts) where count > 0 {
          let (bottom, top) = (plot.y(sum), plot.y(sum + count))
          sum += count
          html.rectangle(
            fill.look(in: name), x: x + width * 14 / 100, y: top, width: width * 72 / 100,
            height: max(bottom - top - 75, 60))
        }
      }
    }
  }
}
