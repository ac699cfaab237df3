extension QRCode {
  /// The width of the required light border, in modules.
  private static let quietZone = 4

  /// Returns the code as an SVG element, for HTML or a separate file.
  ///
  /// It's black on white regardless of the page's colors, and has no fixed size and no inline
  /// styles, which a content security policy may forbid.
  ///
  /// - Parameter label: The text alternative of the image.
  /// - Returns: The element.
  public func svg(label: String) -> String {
    let side = size + 2 * Self.quietZone
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" role="img" \
      aria-label="\(Self.escaped(label))" shape-rendering="crispEdges">\
      <rect width="\(side)" height="\(side)" fill="#fff"/>\
      <path fill="#000" d="\(path)"/></svg>
      """
  }

  /// The path, with a rectangle for each run of dark modules in a row.
  private var path: String {
    var path = ""
    for row in 0..<size {
      var column = 0
      while column < size {
        var end = column
        while end < size, self[end, row] { end += 1 }
        if end > column {
          let (x, y) = (column + Self.quietZone, row + Self.quietZone)
          path += "M\(x) \(y)h\(end - column)v1h-\(end - column)z"
        }
        column = end + 1
      }
    }
    return path
  }

  /// Escapes a text for use in an attribute value.
  ///
  /// It iterates over scalars: a quotation mark with an accent is a different `Character`, but
  /// still ends the value.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\t", "\n", "\r", "\u{20}"...: escaped.unicodeScalars.append(scalar)
      // XML can't represent control characters.
      default: escaped += "\u{FFFD}"
      }
    }
  }
}
