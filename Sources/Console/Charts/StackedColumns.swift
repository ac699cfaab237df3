import Localization
import Templating

struct StackedColumns: Sendable {
  /// The fills from the baseline up.
  let fills: [ChartFill]
  /// The counts of each column, one for each fill.
  let columns: [[Int]]
  let ticks: [ChartTick]
  let label: Message
  /// The name of the chart, unique on its page.
  let name: StaticString

  var markup: Markup {
    let totals = columns.map { $0.reduce(0, +) }
    let plot = ChartPlot(
      height: 180, scale: ChartScale(upTo: totals.max() ?? 0), label: label)
    return plot.markup(ticks) { html in
      html.add(ChartFill.patterns(name))
      // One column isn't as wide as the page.
      let width = 10_000 / max(columns.count, 12)
      for (index, counts) in columns.enumerated() {
        let x = index * 10_000 / max(columns.count, 12)
        var sum = 0
        for (fill, count) in zip(fills, counts) where count > 0 {
          let (bottom, top) = (plot.y(sum), plot.y(sum + count))
          sum += count
          html.raw("<rect")
          fill.add(to: &html, of: name)
          html.rectangle(
            x: x + width * 14 / 100, y: top, width: width * 72 / 100,
            height: max(bottom - top - 75, 60))
        }
      }
    }
  }
}
