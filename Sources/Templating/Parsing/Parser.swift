import Localization

/// Parses a template's source to a tree.
struct Parser {
  let lines: Lines
  let tags: [Tag]
  /// The index of the closing tag for each opening tag.
  let closes: [Int: Int]
  let catalog: Catalog
  private(set) var messages: [TemplateMessage] = []
  /// The start of the last line with a ``Node/lineStart``.
  var startedLine: Int?

  static func parse(
    _ source: [UInt8], file: String, catalog: Catalog
  ) throws(TemplateError) -> ParsedTemplate {
    guard String(validating: source, as: UTF8.self) != nil else {
      throw TemplateError(.notUTF8, at: SourceLocation(file: file, line: 0))
    }
    let tags = try Scanner.tags(of: source, file: file)
    var parser = Parser(
      lines: Lines(source: source), tags: tags, closes: try closings(of: tags), catalog: catalog)
    let all = Part(tags: 0..<tags.count, bytes: 0..<source.count, indentation: [])
    let nodes = try parser.nodes(of: all)
    return ParsedTemplate(nodes: nodes, messages: parser.messages)
  }

  private static func closings(of tags: [Tag]) throws(TemplateError) -> [Int: Int] {
    var open: [Int] = []
    var closes: [Int: Int] = [:]
    for (index, tag) in tags.enumerated() {
      if tag.kind.isOpening { open.append(index) }
      guard tag.kind == .close else { continue }
      let expected = open.popLast()
      guard let expected, tags[expected].name == tag.name else {
        let name = expected.map { tags[$0].name }
        throw TemplateError(.unexpectedClose(tag.name, expected: name), at: tag.place)
      }
      closes[expected] = index
    }
    if let unclosed = open.last.map({ tags[$0] }) {
      throw TemplateError(.unclosedSection(unclosed.name), at: unclosed.place)
    }
    return closes
  }

  /// A part of the source that becomes a list of nodes.
  struct Part {
    let tags: Range<Int>
    let bytes: Range<Int>
    /// The indentation to remove from each line.
    let indentation: ArraySlice<UInt8>
  }

  mutating func nodes(of part: Part) throws(TemplateError) -> [Node] {
    var nodes: [Node] = []
    var position = part.bytes.lowerBound
    var index = part.tags.lowerBound
    while index < part.tags.upperBound {
      let tag = tags[index]
      let extent = extent(of: index)
      appendText(position..<extent.open.lowerBound, of: part, to: &nodes)
      if !extent.opensAlone { startLine(of: tag.range.lowerBound, in: &nodes) }
      if tag.kind == .message {
        nodes += try message(tag)
      } else if let node = try node(for: tag, extent, in: part) {
        nodes.append(node)
      }
      if !extent.closesAlone { startedLine = lines.start(of: extent.close.upperBound) }
      position = extent.close.upperBound
      index = extent.inner.upperBound + (tag.kind.isOpening ? 1 : 0)
    }
    appendText(position..<part.bytes.upperBound, of: part, to: &nodes)
    return nodes
  }

  private mutating func node(
    for tag: Tag, _ extent: Extent, in part: Part
  ) throws(TemplateError) -> Node? {
    switch tag.kind {
    case .escaped, .unescaped:
      return .variable(tag.dottedName, escaped: tag.kind == .escaped)
    case .section, .inverted:
      let content = try content(of: extent, without: part.indentation)
      return .section(tag.dottedName, inverted: tag.kind == .inverted, content)
    case .partial, .parent:
      let own = lines.source[extent.open.lowerBound..<tag.range.lowerBound]
      return .include(
        Inclusion(
          template: tag.name, place: tag.place,
          indentation: Array(own.dropping(prefix: part.indentation)),
          isStandalone: extent.opensAlone, arguments: try arguments(of: extent)))
    case .block:
      return .block(try block(tag, extent, in: part.indentation))
    case .close, .comment, .delimiters, .message:
      return nil
    }
  }

  /// Returns the text of a message, with a variable for each argument.
  private mutating func message(_ tag: Tag) throws(TemplateError) -> [Node] {
    let message = TemplateMessage(
      file: tag.place.file, line: tag.place.line, context: tag.name.isEmpty ? nil : tag.name,
      text: tag.texts[0], plural: tag.texts.count > 1 ? tag.texts[1] : nil)
    messages.append(message)
    let forms: MessageForms
    do throws(CatalogError.Problem) {
      forms = try catalog.forms(message.text, plural: message.plural, in: message.context)
    } catch {
      throw TemplateError(
        .unsuitable(message.text, reason: "has a brace outside an argument"), at: tag.place)
    }
    let count = Name(path: ["count"], place: tag.place)
    let contents = forms.patterns.map { pattern in
      pattern.pieces.map { piece -> Node in
        switch piece {
        case .text(let text): .text(Array(text.utf8))
        case .argument("count") where message.plural != nil: .count(count)
        case .argument(let name):
          .variable(
            Name(path: name.split(separator: ".").map(String.init), place: tag.place),
            escaped: true)
        }
      }
    }
    return message.plural == nil ? contents[0] : [.plural(count, forms, contents)]
  }

  /// Returns the nodes between an opening and a closing tag.
  mutating func content(
    of extent: Extent, without indentation: ArraySlice<UInt8>
  ) throws(TemplateError) -> [Node] {
    let bytes = extent.open.upperBound..<extent.close.lowerBound
    var nodes = try nodes(of: Part(tags: extent.inner, bytes: bytes, indentation: indentation))
    if !extent.closesAlone { startLine(of: extent.close.lowerBound, in: &nodes) }
    return nodes
  }

  private mutating func appendText(_ range: Range<Int>, of part: Part, to nodes: inout [Node]) {
    var position = range.lowerBound
    while position < range.upperBound {
      let newline = lines.source[position..<range.upperBound].firstIndex(of: UInt8(ascii: "\n"))
      let end = newline.map { $0 + 1 } ?? range.upperBound
      var text = lines.source[position..<end]
      if lines.start(of: position) == position {
        text = text.dropping(prefix: part.indentation)
        let isEmptyLine = text.first.map { $0 != UInt8(ascii: " ") && isWhitespace($0) } ?? true
        if !isEmptyLine { startLine(of: position, in: &nodes) }
      }
      let written = text.filter { $0 != Continuation.mark }
      if !written.isEmpty { nodes.append(.text(written)) }
      position = end
    }
  }

  /// Adds the line start of the line of `offset`, if it's missing.
  private mutating func startLine(of offset: Int, in nodes: inout [Node]) {
    let start = lines.start(of: offset)
    guard start != startedLine else { return }
    startedLine = start
    nodes.append(.lineStart)
  }
}

extension Tag {
  fileprivate var dottedName: Name {
    let path = name == "." ? [] : name.split(separator: ".", omittingEmptySubsequences: false)
    return Name(path: path.map(String.init), place: place)
  }
}
