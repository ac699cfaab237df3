import Identity
import Localization
import OTP
import Templating

/// Draws the acceptance window: 21 intervals of 30 seconds from −10 to +10; lit ones are valid.
///
/// It's a time axis, so it isn't mirrored in right-to-left text.
enum WindowStrip {
  /// The number of intervals on each side.
  static let reach = 10

  /// The strip for a row, with the number next to it.
  static func small(_ configuration: MFAConfiguration) -> Markup {
    guard let window = configuration.accepted else { return off }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefault : own[window.adjacentIntervals]
  }

  /// The strip for a row of a long list, which references one of `symbols`.
  static func line(_ configuration: MFAConfiguration) -> Markup {
    guard let window = configuration.accepted else { return offLine }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefaultLine : ownLines[window.adjacentIntervals]
  }

  /// The SVG symbols that `line` references, to be included once before a list.
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

  /// The strip alone, for a table that has the number in another column.
  static func plain(_ window: Window) -> Markup { plainStrips[window.adjacentIntervals] }

  private static let plainStrips = Window.range.map { side in
    var html = HTML()
    html.raw("<svg class=\"strip\" viewBox=\"0 0 104 16\" aria-hidden=\"true\">")
    paths(Window(adjacentIntervals: side), into: &html)
    html.raw("</svg>")
    return html.markup
  }

  /// The strip of a code, with a mark at its interval; nil for a code that matches none in reach.
  ///
  /// It's hidden from screen readers because the sentence next to it says the same.
  static func marked(_ window: Window?, at distance: Int?, isAccepted: Bool) -> Markup? {
    guard let window, let distance, abs(distance) <= reach else { return nil }
    let strips = isAccepted ? acceptedStrips : rejectedStrips
    return strips[window.adjacentIntervals][distance + reach]
  }

  private static let acceptedStrips = markedStrips { x, html in
    html.raw("<circle class=\"hit\" cy=\"8\" r=\"5\" cx=\"")
    html.number(x)
    html.raw("\"/></svg>")
  }

  private static let rejectedStrips = markedStrips { x, html in
    html.raw("<rect class=\"miss\" width=\"9\" height=\"9\" y=\"3.5\" x=\"")
    html.hundredths(x * 100 - 450)
    html.raw("\"/></svg>")
  }

  private static func markedStrips(_ mark: (Int, inout HTML) -> Void) -> [[Markup]] {
    Window.range.map { side in
      (-reach...reach).map { distance in
        var html = HTML()
        html.raw("<svg class=\"strip\" viewBox=\"0 0 104 16\" aria-hidden=\"true\">")
        paths(Window(adjacentIntervals: side), into: &html)
        mark((distance + reach) * 5 + 2, &html)
        return html.markup
      }
    }
  }

  static func label(_ window: Window?) -> Message {
    guard let window else { return Message("No codes are accepted") }
    let side = window.adjacentIntervals
    return side == 0
      ? Message("Only the current code is accepted")
      : Message(
        one: "{count} code is accepted: the current one and {side} on each side",
        other: "{count} codes are accepted: the current one and {side} on each side",
        ["count": .number(window.codes), "side": .number(side)])
  }

  private static let off = drawn(nil, .verbatim("–"))
  private static let byDefault = drawn(.standard, byDefaultText)
  private static let own = Window.range.map { side in
    drawn(Window(adjacentIntervals: side), .value(.number(side)))
  }
  private static let offLine = drawn(nil, .verbatim("–"), asLine: true)
  private static let byDefaultLine = drawn(.standard, byDefaultText, asLine: true)
  private static let ownLines = Window.range.map { side in
    drawn(Window(adjacentIntervals: side), .value(.number(side)), asLine: true)
  }
  private static let byDefaultText = Message(
    "{number} (default)", ["number": .number(Window.standard.adjacentIntervals)])

  private static func drawn(_ window: Window?, _ text: Message, asLine: Bool = false) -> Markup {
    var html = HTML()
    html.raw("<span class=\"window\"><svg class=\"strip\"")
    if !asLine { html.raw(" viewBox=\"0 0 104 16\"") }
    html.raw(" role=\"img\" aria-label=\"")
    html.message(label(window))
    html.raw("\">")
    if asLine {
      html.raw("<use href=\"#")
      html.text(symbol(window))
      html.raw("\"/>")
    } else {
      paths(window, into: &html)
    }
    html.raw("</svg><span>")
    html.message(text)
    html.raw("</span></span>")
    return html.markup
  }

  private static func symbol(_ window: Window?) -> String {
    window.map { "w\($0.adjacentIntervals)" } ?? "w-off"
  }

  // Three dashed lines instead of 21 rectangles keep a page of 50 rows small.
  private static func paths(_ window: Window?, into html: inout HTML) {
    html.raw("<path d=\"M0 8h104\"/>")
    guard let side = window?.adjacentIntervals else { return }
    html.raw("<path class=\"lit\" d=\"M")
    html.number((reach - side) * 5)
    html.raw(" 8h")
    html.number(10 * side + 4)
    html.raw("\"/><path class=\"now\" d=\"M50 2h4v12h-4z\"/>")
  }
}

/// The radio buttons named `intervals`: the default, and 0 to 10 adjacent intervals.
///
/// They have an order, by which the style sheet recolors cells and columns with the selection.
enum WindowPicks {
  /// The buttons without the fieldset around them; `selected` may be invalid.
  static func markup(_ selected: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"picks\">")
    for choice in WindowChoice.all {
      html.raw("<input type=\"radio\" name=\"intervals\" id=\"intervals-")
      html.text(choice.value)
      html.raw("\" value=\"")
      html.text(choice.value)
      html.raw("\"")
      if choice.value == selected { html.raw(" checked") }
      html.raw(" data-text=\"")
      html.message(choice.label)
      html.raw("\" aria-label=\"")
      html.message(choice.spoken)
      html.raw("\">")
    }
    html.raw("</span>")
    return html.markup
  }
}

/// Draws the window as 21 cells from −10 to +10 intervals: labels of the buttons of
/// ``WindowPicks``, or a drawing for administrators who can't change the policy.
///
/// Cells have the classes `d0` to `d10`, so that the style sheet recolors them with the selection;
/// those that the server draws as accepted also have the class `in`. It's a time axis, so it isn't
/// mirrored in right-to-left text.
enum WindowCells {
  /// The cells as labels; `drawn` is nil if no codes are accepted.
  static func labels(_ drawn: Window?) -> Markup {
    var html = HTML()
    html.raw("<div class=\"cells\" aria-hidden=\"true\">")
    for step in -WindowStrip.reach...WindowStrip.reach {
      html.raw("<label class=\"")
      classes(abs(step), drawn, &html)
      html.raw("\" for=\"intervals-")
      html.number(abs(step))
      html.raw("\">")
      caption(step, &html)
      html.raw("</label>")
    }
    html.raw("</div>")
    return html.markup
  }

  static func drawing(_ drawn: Window?) -> Markup {
    var html = HTML()
    html.raw("<div class=\"cells\" role=\"img\" aria-label=\"")
    html.message(WindowStrip.label(drawn))
    html.raw("\">")
    for step in -WindowStrip.reach...WindowStrip.reach {
      html.raw("<span class=\"")
      classes(abs(step), drawn, &html)
      html.raw("\">")
      caption(step, &html)
      html.raw("</span>")
    }
    html.raw("</div>")
    return html.markup
  }

  private static func classes(_ side: Int, _ drawn: Window?, _ html: inout HTML) {
    html.raw("d")
    html.number(side)
    if let drawn, side <= drawn.adjacentIntervals { html.raw(" in") }
  }

  private static func caption(_ step: Int, _ html: inout HTML) {
    html.raw(step % 5 == 0 ? "<span>" : "<span class=\"minor\">")
    if step == 0 {
      html.message(Message("now"))
    } else {
      html.text(step < 0 ? "−\(-step)" : "+\(step)")
    }
    html.raw("</span>")
  }
}

struct WindowChoice: Sendable {
  static let byDefault = "default"

  /// The number of intervals; nil for the default.
  let intervals: Int?
  /// The class of what is shown only while it's selected.
  let name: StaticString

  var value: String { intervals.map { String($0) } ?? Self.byDefault }

  /// The choice in a list of changes: “±3”.
  var label: Message {
    intervals == nil
      ? Message("{window} (default)", ["window": .text(WindowText.name(window))])
      : .verbatim(WindowText.name(window))
  }

  /// The name of the choice for screen readers.
  var spoken: Message {
    intervals == nil
      ? Message("Default: {window}", ["window": .message(WindowText.codes(window))])
      : WindowText.codes(window)
  }

  static let all: [WindowChoice] =
    [WindowChoice(intervals: nil, name: "wd")]
    + zip(0..., names).map { WindowChoice(intervals: $0, name: $1) }

  private static let names: [StaticString] = [
    "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10",
  ]
}
