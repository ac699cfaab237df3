import Templating

/// A bar of a whole with its parts side by side, next to their numbers as text.
enum ShareBar {
  /// Draws the parts from `start` on, which is a count as well; a page has one bar of several parts.
  static func markup(
    _ parts: [(fill: ChartFill, count: Int)], of whole: Int, from start: Int = 0
  ) -> Markup {
    let name = parts.count > 1 ? "share" : nil
    var html = HTML()
    html.add(#"<svg class="c share" height="16" aria-hidden="true">"#)
    if let name { html.add(ChartFill.patterns(name)) }
    html.add(#"<rect class="all" width="100%" height="16"/>"#)
    var sum = start
    for part in parts where part.count > 0 {
      let from = sum * 10_000 / whole
      sum += part.count
      html.rectangle(
        part.fill.look(in: name), x: from, y: 0, width: sum * 10_000 / whole - from,
        height: 1_600)
    }
    html.add("</svg>")
    return html.markup
  }
}
