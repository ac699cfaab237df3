import Localization
import OTP
import Templating

/// Draws the window as 21 cells from −10 to +10 intervals: the input of the policy form, or a
/// drawing for administrators who can't change the policy.
///
/// The 11 radio buttons are the cells from now to +10; the cells on the left are labels of the same
/// buttons. Cells have the classes `d0` to `d10`, so that the style sheet recolors them with the
/// selection; those that the server draws as accepted also have the class `in`. It's a time axis, so
/// it isn't mirrored in right-to-left text.
enum WindowCells {
  /// The cells as radio buttons named `intervals`, without the fieldset around them.
  ///
  /// `selected` may be invalid; `drawn` is nil if no codes are accepted.
  static func input(_ selected: String, _ drawn: Window?) -> Markup {
    var html = HTML()
    for step in -WindowStrip.reach...WindowStrip.reach {
      let side = abs(step)
      html.raw("<label class=\"")
      classes(side, drawn, &html)
      html.raw("\"")
      if step < 0 {
        html.raw(" for=\"intervals-")
        html.number(side)
        html.raw("\" aria-hidden=\"true\">")
      } else {
        html.raw("><input type=\"radio\" name=\"intervals\" id=\"intervals-")
        html.number(side)
        html.raw("\" value=\"")
        html.number(side)
        html.raw("\"")
        if selected == String(side) { html.raw(" checked") }
        html.raw(" aria-label=\"")
        if let window = Window(adjacentIntervals: side) { html.message(WindowText.codes(window)) }
        html.raw("\">")
      }
      caption(step, &html)
      html.raw("</label>")
    }
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
