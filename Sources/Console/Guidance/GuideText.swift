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

  /// Finds the placeholders of a rendered guide, and makes its code samples copyable.
  ///
  /// - Throws: ``UnknownGap``.
  init(_ document: MarkdownDocument) throws(UnknownGap) {
    var pieces: [Piece] = []
    var rest = Self.withSamples(document)[...]
    while let start = rest.firstRange(of: "{{"),
      let end = rest[start.upperBound...].firstRange(of: "}}")
    {
      let name = String(rest[start.upperBound..<end.lowerBound])
      guard let gap = GuideGap(rawValue: name) else { throw UnknownGap(name: name) }
      pieces += [.html(Markup(trusted: String(rest[..<start.lowerBound]))), .gap(gap)]
      rest = rest[end.upperBound...]
    }
    self.pieces = pieces + [.html(Markup(trusted: String(rest)))]
  }

  /// The guide's markup with its placeholders filled.
  func markup(_ values: GuideValues) -> Markup {
    var html = HTML()
    for piece in pieces {
      switch piece {
      case .html(let markup): html.add(markup)
      case .gap(.window): html.message(values.window)
      case .gap(let gap): html.text(values[gap])
      }
    }
    return html.markup
  }

  /// The HTML with each code sample in a scrollable, copyable box labeled with its heading.
  ///
  /// This works line by line: libcmark starts each block on a new line and escapes samples.
  private static func withSamples(_ document: MarkdownDocument) -> String {
    var headings = document.headings[...]
    var name = ""
    var count = 0
    var lines: [Substring] = []
    for line in document.html.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("<h"), let heading = headings.first, line.contains("\"\(heading.id)\"") {
        headings.removeFirst()
        (name, count) = (heading.text, 0)
      }
      guard line.hasPrefix("<pre><code"), let end = line.firstIndex(where: { $0 == ">" }),
        let start = line[line.index(after: end)...].firstIndex(of: ">")
      else {
        lines.append(line == "</code></pre>" ? "</code></pre></div>" : line)
        continue
      }
      count += 1
      var label = HTML()
      label.text(count == 1 ? name : "\(name), \(count)")
      lines.append(
        """
        <div class="code"><pre data-copy tabindex="0" aria-label="\
        \(String(decoding: label.markup.bytes(in: .empty), as: UTF8.self))">\
        <code>\(line[line.index(after: start)...])
        """)
    }
    return lines.joined(separator: "\n")
  }
}

/// A placeholder in a guide that has no value.
struct UnknownGap: Error, CustomStringConvertible {
  let name: String
  var description: String { "unknown placeholder {{\(name)}}" }
}
