import Identity
import Templating

/// The motif: 21 steps of 30 seconds from −10 to +10 around now; lit steps are accepted.
///
/// It is an axis of time, so it does not mirror with the direction of the text.
enum WindowStrip {
  /// The furthest step on each side.
  static let reach = 10

  /// The strip for a row, with the number beside it.
  static func small(_ configuration: MFAConfiguration) -> Markup {
    guard let window = configuration.accepted else { return off }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefault : own[window.adjacentIntervals]
  }

  /// The strip for a line of a long list, which shows one of `symbols`.
  static func line(_ configuration: MFAConfiguration) -> Markup {
    guard let window = configuration.accepted else { return offLine }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefaultLine : ownLines[window.adjacentIntervals]
  }

  /// What the lines of a list show, to stand once before it.
  static let symbols: Markup = {
    var html = HTML()
    html.raw("<svg class=\"strip visually-hidden\" aria-hidden=\"true\">")
    for window in [nil] + Window.range.map(Window.init(adjacentIntervals:)) {
      html.raw("<symbol id=\"")
      html.text(symbol(window))
      html.raw("\" viewBox=\"0 0 104 16\">")
      paths(window, into: &html)
      html.raw("</symbol>")
    }
    html.raw("</svg>")
    return html.markup
  }()

  /// The strip for the policy page, with its scale; nil when no code is accepted.
  static func large(_ window: Window?) -> Markup {
    var html = HTML()
    html.raw("<svg class=\"strip large\" viewBox=\"0 0 690 42\" role=\"img\" aria-label=\"")
    html.text(label(window))
    html.raw("\">")
    for step in -reach...reach {
      let x = (step + reach) * 33
      html.raw("<rect data-step=\"")
      html.number(step)
      html.raw("\"")
      if let window, step.magnitude <= window.adjacentIntervals {
        html.raw(step == 0 ? " class=\"now\"" : " class=\"lit\"")
      }
      html.raw(" x=\"")
      html.number(x)
      html.raw(
        step == 0
          ? "\" y=\"0\" width=\"29\" height=\"22\"" : "\" y=\"4\" width=\"29\" height=\"14\"")
      html.raw(" rx=\"2\"/><text")
      if step % 5 != 0 { html.raw(" class=\"minor\"") }
      html.raw(" x=\"")
      html.number(x + 14)
      html.raw("\" y=\"38\">")
      html.text(step == 0 ? "now" : step < 0 ? "−\(-step)" : "+\(step)")
      html.raw("</text>")
    }
    html.raw("</svg>")
    return html.markup
  }

  /// The strip of a code, with a mark at its step; nothing for a code that is none near.
  ///
  /// The sentence beside it says the same, so it is drawn only.
  static func marked(_ window: Window?, at distance: Int?) -> Markup? {
    guard let window, let distance, abs(distance) <= reach else { return nil }
    return markedStrips[window.adjacentIntervals][distance + reach]
  }

  private static let markedStrips = Window.range.map { side in
    (-reach...reach).map { distance in
      var html = HTML()
      html.raw("<svg class=\"strip\" viewBox=\"0 0 104 16\" aria-hidden=\"true\">")
      paths(Window(adjacentIntervals: side), into: &html)
      html.raw("<path class=\"mark\" d=\"M")
      html.number((distance + reach) * 5 + 2)
      html.raw(" 0v16\"/></svg>")
      return html.markup
    }
  }

  /// What the strip shows, for readers who do not see it.
  static func label(_ window: Window?) -> String {
    guard let window else { return "No code is accepted" }
    let side = window.adjacentIntervals
    return side == 0
      ? "Only the present code is accepted"
      : "\(window.codes) codes are accepted: now and \(side) on each side"
  }

  private static let off = drawn(nil, "–")
  private static let byDefault = drawn(.standard, byDefaultText)
  private static let own = Window.range.map { side in
    drawn(Window(adjacentIntervals: side), String(side))
  }
  private static let offLine = drawn(nil, "–", asLine: true)
  private static let byDefaultLine = drawn(.standard, byDefaultText, asLine: true)
  private static let ownLines = Window.range.map { side in
    drawn(Window(adjacentIntervals: side), String(side), asLine: true)
  }
  private static let byDefaultText = "\(Window.standard.adjacentIntervals), default"

  private static func drawn(_ window: Window?, _ text: String, asLine: Bool = false) -> Markup {
    var html = HTML()
    html.raw("<span class=\"window\"><svg class=\"strip\"")
    if !asLine { html.raw(" viewBox=\"0 0 104 16\"") }
    html.raw(" role=\"img\" aria-label=\"")
    html.text(label(window))
    html.raw("\">")
    if asLine {
      html.raw("<use href=\"#")
      html.text(symbol(window))
      html.raw("\"/>")
    } else {
      paths(window, into: &html)
    }
    html.raw("</svg><span>")
    html.text(text)
    html.raw("</span></span>")
    return html.markup
  }

  private static func symbol(_ window: Window?) -> String {
    window.map { "w\($0.adjacentIntervals)" } ?? "w-off"
  }

  // Three dashed lines draw what would be 21 rectangles: fifty rows stay a light page.
  private static func paths(_ window: Window?, into html: inout HTML) {
    html.raw("<path d=\"M0 8h104\"/>")
    guard let side = window?.adjacentIntervals else { return }
    html.raw("<path class=\"lit\" d=\"M")
    html.number((reach - side) * 5)
    html.raw(" 8h")
    html.number(10 * side + 4)
    html.raw("\"/><path class=\"now\" d=\"M52 0v16\"/>")
  }
}
