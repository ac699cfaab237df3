import Localization
import Templating

/// Draws counts by weekday and hour; darker cells have more.
struct HeatMap: Sendable {
  /// Seven rows from Monday to Sunday with 24 hours each.
  let counts: [[Int]]
  let label: Message

  private static let row = 19
  private static let height = 7 * row + 26

  var markup: Markup {
    var html = HTML()
    html.raw("<div class=\"plot\"><svg class=\"y\" height=\"")
    html.number(Self.height)
    html.raw("\" aria-hidden=\"true\">")
    for day in 0..<7 {
      html.raw("<text class=\"e\" x=\"100%\" y=\"")
      html.hundredths((2 + day * Self.row) * 100 + 1_350)
      html.raw("\">")
      html.message(.value(.weekday(day + 1)))
      html.raw("</text> ")
    }
    html.raw("</svg>")
    html.openChart(height: Self.height, label)
    let largest = counts.joined().max() ?? 0
    for (day, hours) in counts.enumerated() {
      for (hour, count) in hours.enumerated() {
        html.raw("<rect class=\"q")
        html.number(Self.level(count, largest: largest))
        html.raw("\" rx=\"2\"")
        html.rectangle(
          x: hour * 10_000 / 24 + 25, y: (2 + day * Self.row) * 100, width: 367,
          height: (Self.row - 3) * 100)
      }
    }
    for hour in stride(from: 0, to: 24, by: 6) {
      html.raw("<text x=\"")
      html.hundredths(hour * 10_000 / 24 + 25)
      html.raw("%\" y=\"")
      html.number(Self.height - 5)
      html.raw("\">")
      html.message(.value(.hour(hour)))
      html.raw("</text> ")
    }
    html.raw("</svg></div>")
    return html.markup
  }

  /// The shade of a count, 0 for none to 4 for the largest.
  static func level(_ count: Int, largest: Int) -> Int {
    largest == 0 ? 0 : (count * 4 + largest - 1) / largest
  }

  static let key: [ChartKey] = {
    var html = HTML()
    for level in 0...4 {
      html.raw("<svg aria-hidden=\"true\"><rect class=\"q")
      html.number(level)
      html.raw("\" width=\"12\" height=\"12\" rx=\"2\"/></svg>")
    }
    return [ChartKey(html.markup, Message("Fewer to more"))]
  }()
}
