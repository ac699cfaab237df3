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
    html.add(#"<div class="plot"><svg class="y" height="\#(Self.height)" aria-hidden="true">"#)
    for day in 0..<7 {
      html.mark(.value(.weekday(day + 1)), y: (2 + day * Self.row) * 100 + 1_350)
    }
    html.add("</svg>")
    html.openChart(height: Self.height, label)
    let largest = counts.joined().max() ?? 0
    for (day, hours) in counts.enumerated() {
      for (hour, count) in hours.enumerated() {
        html.rectangle(
          #" class="q\#(Self.level(count, largest: largest))" rx="2""#,
          x: hour * 10_000 / 24 + 25, y: (2 + day * Self.row) * 100, width: 367,
          height: (Self.row - 3) * 100)
      }
    }
    for hour in stride(from: 0, to: 24, by: 6) {
      let (x, name) = (hour * 10_000 / 24 + 25, Message.value(.hour(hour)))
      html.add(#"<text x="\#(hundredths: x)%" y="\#(Self.height - 5)">\#(name)</text> "#)
    }
    html.add("</svg></div>")
    return html.markup
  }

  /// The shade of a count, 0 for none to 4 for the largest.
  static func level(_ count: Int, largest: Int) -> Int {
    largest == 0 ? 0 : (count * 4 + largest - 1) / largest
  }

  static let key: [ChartKey] = {
    var html = HTML()
    for level in 0...4 {
      html.add(
        #"<svg aria-hidden="true"><rect class="q\#(level)" width="12" height="12" rx="2"/></svg>"#)
    }
    return [ChartKey(html.markup, Message("Fewer to more"))]
  }()
}
