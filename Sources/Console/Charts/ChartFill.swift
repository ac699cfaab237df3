import Localization
import Templating

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
