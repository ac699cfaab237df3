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
    if configuration.isWindowUnsaid { return unsaid }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefault : own[window.adjacentIntervals]
  }

  /// The strip for a row of a long list, which references one of `symbols`.
  static func line(_ configuration: MFAConfiguration) -> Markup {
    guard let window = configuration.accepted else { return offLine }
    if configuration.isWindowUnsaid { return unsaid }
    return configuration.totp?.adjacentIntervals == nil
      ? byDefaultLine : ownLines[window.adjacentIntervals]
  }

  /// The SVG symbols that `line` references, to be included once before a list.
  static let symbols: Markup = {
    var html = HTML()
    html.add(#"<svg class="strip visually-hidden" aria-hidden="true">"#)
    for window in [nil] + Window.range.map(Window.init(adjacentIntervals:)) {
      html.add(
        #"<symbol id="\#(symbol(window))" viewBox="0 0 104 16">\#(paths(window))</symbol>"#)
    }
    html.add("</svg>")
    return html.markup
  }()

  /// The strip alone, for a table that has the number in another column.
  static func plain(_ window: Window) -> Markup { plainStrips[window.adjacentIntervals] }

  private static let plainStrips = Window.range.map { strip($0, mark: "") }

  private static func strip(_ side: Int, mark: Markup) -> Markup {
    #"""
    <svg class="strip" viewBox="0 0 104 16" aria-hidden="true">\#
    \#(paths(Window(adjacentIntervals: side)))\#(mark)</svg>
    """#
  }

  /// The strip of a code, with a mark at its interval; nil for a code that matches none in reach.
  ///
  /// It's hidden from screen readers because the sentence next to it says the same.
  static func marked(_ window: Window?, at distance: Int?, isAccepted: Bool) -> Markup? {
    guard let window, let distance, abs(distance) <= reach else { return nil }
    let strips = isAccepted ? acceptedStrips : rejectedStrips
    return strips[window.adjacentIntervals][distance + reach]
  }

  private static let acceptedStrips = markedStrips { x in
    #"<circle class="hit" cy="8" r="5" cx="\#(x)"/>"#
  }

  private static let rejectedStrips = markedStrips { x in
    #"<rect class="miss" width="9" height="9" y="3.5" x="\#(hundredths: x * 100 - 450)"/>"#
  }

  private static func markedStrips(_ mark: (Int) -> Markup) -> [[Markup]] {
    Window.range.map { side in
      (-reach...reach).map { strip(side, mark: mark(($0 + reach) * 5 + 2)) }
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

  private static let unsaid: Markup = #"""
    <span class="window"><svg class="strip" viewBox="0 0 104 16" role="img"\#
     aria-label="\#(unsaidLabel)"><path d="M0 8h104"/>\#
    <path class="now" d="M50 2h4v12h-4z"/></svg><span>\#(unsaidText)</span></span>
    """#
  private static let unsaidLabel = Message("Unknown")
  private static let unsaidText = Message("0 or default")

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
    let size: Markup = asLine ? "" : #" viewBox="0 0 104 16""#
    let drawing = asLine ? ##"<use href="#\##(symbol(window))"/>"## : paths(window)
    return #"""
      <span class="window"><svg class="strip"\#(size) role="img"\#
       aria-label="\#(label(window))">\#(drawing)</svg><span>\#(text)</span></span>
      """#
  }

  private static func symbol(_ window: Window?) -> String {
    window.map { "w\($0.adjacentIntervals)" } ?? "w-off"
  }

  // Three dashed lines instead of 21 rectangles keep a page of 50 rows small.
  private static func paths(_ window: Window?) -> Markup {
    guard let side = window?.adjacentIntervals else { return #"<path d="M0 8h104"/>"# }
    return #"""
      <path d="M0 8h104"/><path class="lit" d="M\#((reach - side) * 5) 8h\#(10 * side + 4)"/>\#
      <path class="now" d="M50 2h4v12h-4z"/>
      """#
  }
}

/// The radio buttons named `intervals`: the default, and 0 to 10 adjacent intervals.
///
/// They have an order, by which the style sheet recolors cells and columns with the selection.
enum WindowPicks {
  /// The buttons without the fieldset around them; `selected` may be invalid.
  static func markup(_ selected: String) -> Markup {
    var html = HTML()
    html.add(#"<span class="picks">"#)
    for choice in WindowChoice.all {
      html.add(
        #"""
        <input type="radio" name="intervals" id="intervals-\#(choice.value)"\#
         value="\#(choice.value)"\#(choice.value == selected ? " checked" : "")\#
         data-text="\#(choice.label)" aria-label="\#(choice.spoken)">
        """#)
    }
    html.add("</span>")
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
    cells(#" aria-hidden="true""#, drawn) { side, name, caption in
      #"<label class="\#(name)" for="intervals-\#(side)">\#(caption)</label>"#
    }
  }

  static func drawing(_ drawn: Window?) -> Markup {
    cells(#" role="img" aria-label="\#(WindowStrip.label(drawn))""#, drawn) { _, name, caption in
      #"<span class="\#(name)">\#(caption)</span>"#
    }
  }

  private static func cells(
    _ attributes: Markup, _ drawn: Window?, _ cell: (Int, String, Markup) -> Markup
  ) -> Markup {
    var html = HTML()
    html.add(#"<div class="cells"\#(attributes)>"#)
    for step in -WindowStrip.reach...WindowStrip.reach {
      let side = abs(step)
      let isIn = drawn.map { side <= $0.adjacentIntervals } ?? false
      let minor: Markup = step % 5 == 0 ? "" : #" class="minor""#
      html.add(
        cell(side, "d\(side)\(isIn ? " in" : "")", "<span\(minor)>\(name(step))</span>"))
    }
    html.add("</div>")
    return html.markup
  }

  /// An interval by its distance from the current one.
  static func name(_ step: Int) -> Message {
    guard step != 0 else { return Message("now") }
    return .verbatim(step < 0 ? "−\(-step)" : "+\(step)")
  }
}

struct WindowChoice: Sendable {
  static let byDefault = "default"

  /// The number of intervals; nil for the default.
  let intervals: Int?
  /// The class of what is shown only while it's selected.
  let name: String

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

  private static let names = [
    "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10",
  ]
}
