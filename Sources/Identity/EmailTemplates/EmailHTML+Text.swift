extension EmailHTML {
  /// The text of the HTML, for mail programs that show none: blocks on lines of their own, and the
  /// address of each link after its text.
  var plainText: String {
    var writer = PlainTextWriter()
    for token in tokens { writer.add(token) }
    return writer.finish()
  }
}

/// Writes the text of HTML.
private struct PlainTextWriter {
  private var lines: [String] = [""]
  /// The number of list items so far for each open list; nil for one without numbers.
  private var lists: [Int?] = []
  private var link: (href: String, text: String)?
  private var isPreformatted = false

  mutating func add(_ token: EmailHTML.Token) {
    switch token {
    case .text(let text): add(text)
    case .start(let name, let href): start(name, href)
    case .end(let name): end(name)
    }
  }

  mutating func finish() -> String {
    var result: [Substring] = []
    for line in lines {
      let line = line.trimmedEnd
      // At most one empty line in a row.
      if line.isEmpty, result.last?.isEmpty ?? true { continue }
      result.append(line)
    }
    while result.last?.isEmpty == true { result.removeLast() }
    return result.joined(separator: "\n") + "\n"
  }

  private mutating func add(_ text: String) {
    guard !isPreformatted else {
      for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        if index > 0 { lines.append("") }
        lines[lines.count - 1] += line
      }
      link?.text += text
      return
    }
    for scalar in text.unicodeScalars {
      let isSpace = scalar == " " || ("\t"..."\r").contains(scalar)
      let last = lines.count - 1
      if isSpace, lines[last].isEmpty || lines[last].utf8.last == 0x20 { continue }
      lines[last].unicodeScalars.append(isSpace ? " " : scalar)
    }
    link?.text += text
  }

  private mutating func start(_ name: String, _ href: String?) {
    switch name {
    case "br": lines.append("")
    case "hr": lines += ["", "---", ""]
    case "a": if let href { link = (href, "") }
    case "ul": lists.append(nil)
    case "ol": lists.append(0)
    case "li":
      breakLine()
      let number = (lists.last ?? nil).map { $0 + 1 }
      if let number { lists[lists.count - 1] = number }
      lines[lines.count - 1] = number.map { "\($0). " } ?? "• "
    case "td", "th": add(" ")
    case _ where EmailHTML.blocks.contains(name): startBlock(name)
    default: break
    }
    if name == "pre" { isPreformatted = true }
  }

  private mutating func startBlock(_ name: String) {
    breakLine()
    let isParagraph = !["div", "tr", "thead", "tbody"].contains(name)
    if isParagraph, lines.count > 1 || lines[0] != "" { lines.append("") }
  }

  private mutating func end(_ name: String) {
    switch name {
    case "a":
      if let link, !link.text.contains(link.href) {
        let address = link.href.hasPrefix("mailto:") ? String(link.href.dropFirst(7)) : link.href
        if !link.text.contains(address) { lines[lines.count - 1] += ": \(address)" }
      }
      link = nil
    case "ul", "ol":
      if !lists.isEmpty { lists.removeLast() }
      lines.append("")
    case "pre":
      isPreformatted = false
      lines += ["", ""]
    case "li", "div", "tr": breakLine()
    case _ where EmailHTML.blocks.contains(name): lines += ["", ""]
    default: break
    }
  }

  private mutating func breakLine() {
    if !(lines.last ?? "").isEmpty { lines.append("") }
  }
}

extension String {
  fileprivate var trimmedEnd: Substring {
    var rest = self[...]
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return rest
  }
}
