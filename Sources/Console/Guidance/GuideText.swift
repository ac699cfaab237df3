import Localization
import Markdown
import Templating

/// A guide's HTML with placeholders for values that differ between pools.
///
/// Values are escaped and inserted after the Markdown is rendered, so that they're never parsed as
/// Markdown or HTML.
struct GuideText: Sendable {
  private enum Piece: Sendable {
    case html(Markup)
    case gap(GuideGap)
  }

  private let pieces: [Piece]

  let headings: [GuideHeading]

  /// Finds the placeholders of a rendered guide, and makes its code samples copyable.
  init(_ document: MarkdownDocument, sketches: [String: String]) throws(UnknownGap) {
    var layout = GuideLayout(document, sketches: sketches)
    var pieces: [Piece] = []
    let html = try layout.page()
    var rest = html[...]
    while let start = rest.firstRange(of: "{{"),
      let end = rest[start.upperBound...].firstRange(of: "}}")
    {
      let name = String(rest[start.upperBound..<end.lowerBound])
      guard let gap = GuideGap(rawValue: name) else { throw UnknownGap(name: name) }
      pieces += [.html(Markup(trusted: String(rest[..<start.lowerBound]))), .gap(gap)]
      rest = rest[end.upperBound...]
    }
    self.pieces = pieces + [.html(Markup(trusted: String(rest)))]
    headings = layout.contents
  }

  func markup(_ values: GuideValues) -> Markup {
    var html = HTML()
    for piece in pieces {
      switch piece {
      case .html(let markup): html.add(markup)
      case .gap(.window): html.message(values.window)
      case .gap(.tenantComparison): html.message(values.tenantComparison)
      case .gap(let gap): html.text(values[gap])
      }
    }
    return html.markup
  }
}

/// A placeholder or directive in a guide that isn't known.
struct UnknownGap: Error, CustomStringConvertible {
  let name: String
  var description: String { "unknown placeholder {{\(name)}}" }
}
