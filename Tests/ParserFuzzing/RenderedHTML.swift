/// Checks HTML that was rendered from Markdown: its elements, attributes, and addresses are of lists,
/// whatever the source contains.
enum RenderedHTML {
  static let elements: Set<Substring> = [
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "em", "strong", "code", "pre", "ul", "ol", "li",
    "blockquote", "hr", "br", "img",
  ]
  static let attributes: Set<Substring> = [
    "id", "href", "title", "src", "alt", "class", "start", "rel",
  ]

  static func flaw(
    in html: String, elements: Set<Substring> = elements, attributes: Set<Substring> = attributes
  ) -> String? {
    // A mark would make one character of itself and the end of a tag.
    let ascii = html.unicodeScalars.map { $0.isASCII && $0 != "\r" ? $0 : "x" }
    let html = String(String.UnicodeScalarView(ascii))
    for tag in html.split(separator: "<").dropFirst(html.utf8.first == 0x3C ? 0 : 1) {
      guard let end = tag.firstIndex(of: ">") else { return "a tag isn't closed" }
      var inside = tag[..<end].drop { $0 == "/" }
      if inside.last == "/" { inside.removeLast() }
      let name = inside.prefix { $0 != " " && $0 != "\n" }
      guard elements.contains(name) else { return "an element \(name)" }
      let rest = inside.dropFirst(name.count)
      if let flaw = flaw(ofAttributes: rest, allowed: attributes) { return flaw }
    }
    return nil
  }

  private static func flaw(
    ofAttributes text: Substring, allowed attributes: Set<Substring>
  ) -> String? {
    var rest = text.drop { $0 == " " || $0 == "\n" }
    while !rest.isEmpty {
      let name = rest.prefix { $0 != "=" && $0 != " " }
      guard attributes.contains(name) else { return "an attribute \(name)" }
      rest = rest.dropFirst(name.count)
      guard rest.hasPrefix("=\"") else { return "an attribute without quotes" }
      rest = rest.dropFirst(2)
      let value = rest.prefix { $0 != "\"" }
      if name == "href" || name == "src", isScript(value) { return "an address \(value)" }
      rest = rest.dropFirst(value.count + 1).drop { $0 == " " || $0 == "\n" }
    }
    return nil
  }

  // Browsers drop tabs and line breaks, and control characters and spaces in front.
  private static func isScript(_ address: Substring) -> Bool {
    let plain = address.lowercased().filter { !"\t\n\r".contains($0) }.drop { $0 <= " " }
    return ["javascript:", "data:", "vbscript:"].contains { plain.hasPrefix($0) }
  }
}
