extension QRCode {
  /// The number of light modules around the code that readers need to find it.
  private static let quietZone = 4

  /// The code as an SVG element, to stand in HTML or in a file of its own.
  ///
  /// It is black on white whatever the colors around it, has no size of its own, and no inline
  /// style, which a content security policy may forbid.
  ///
  /// - Parameter label: What the image is, for those who do not see it; any text.
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

  /// A rectangle for each run of dark modules in a row.
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

  /// A text as the value of an attribute.
  ///
  /// It goes by scalars: a quotation mark with an accent on it is one `Character`, but ends a value.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\t", "\n", "\r", "\u{20}"...: escaped.unicodeScalars.append(scalar)
      // XML has no way to write a control character.
      default: escaped += "\u{FFFD}"
      }
    }
  }
}
