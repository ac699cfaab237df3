import Text

extension MessageText {
  /// The body as HTML: a paragraph for each block, and a link for each line that is one.
  var html: String {
    body.split(separator: "\n", omittingEmptySubsequences: false)
      .split { $0.allSatisfy(\.isWhitespace) }
      .map { "<p>\($0.map(Self.html).joined(separator: "<br>"))</p>\n" }.joined()
  }

  /// Returns a line, as a link if it's the address of a website.
  private static func html(_ line: Substring) -> String {
    let text = String(line).escapedForHTML
    let isLink =
      line.utf8.allSatisfy { $0 > 0x20 }
      && ["https://", "http://"].contains { line.hasPrefix($0) }
    return isLink ? "<a href=\"\(text)\">\(text)</a>" : text
  }

  /// The HTML as a separate document, readable in light and dark color schemes, which loads
  /// nothing.
  func document(in language: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="\((language.isEmpty ? "en" : language).escapedForHTML)" dir="auto">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <meta name="format-detection" content="telephone=no">
    <title>\(subject.escapedForHTML)</title>
    <style>:root{color-scheme:light dark}body{font:16px/1.5 sans-serif;max-width:38em;margin:1em}\
    a{overflow-wrap:anywhere}</style>
    </head>
    <body>
    \(html)
    </body>
    </html>

    """
  }
}
