import Localization

/// Receives the pieces of an expanded template: a renderer or a compiler.
protocol Sink {
  mutating func text(_ bytes: [UInt8])

  mutating func variable(_ name: Name, escaped: Bool) throws(TemplateError)

  /// Receives the number of a message, formatted for its language.
  mutating func count(_ name: Name) throws(TemplateError)

  /// Receives a message with plural forms, and calls `content` to expand the form at an index.
  mutating func plural(
    _ count: Name, _ forms: MessageForms,
    content: (Int, inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError)

  /// Receives a section, and calls `content` to expand its content any number of times.
  mutating func section(
    _ name: Name, inverted: Bool, content: (inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError)
}

/// The context of an expansion, passed down by tags.
struct Site {
  var indentation: [UInt8] = []
  /// The arguments for blocks; those of the outermost parent tag take precedence.
  var arguments: [String: Block] = [:]
  /// The number of open inclusions and blocks.
  var depth = 0
}

/// Expands partials, parents, and blocks.
struct Expansion {
  /// The number of open inclusions and blocks above which recursion is considered endless.
  static let maximumDepth = 100

  let templates: [String: ParsedTemplate]
  /// Whether missing templates and blocks are errors; otherwise they're treated as empty.
  let isStrict: Bool

  func expand<S: Sink>(
    _ nodes: some Sequence<Node>, at site: Site, into sink: inout S
  ) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text(let bytes): sink.text(bytes)
      case .lineStart: if !site.indentation.isEmpty { sink.text(site.indentation) }
      case .variable(let name, let escaped): try sink.variable(name, escaped: escaped)
      case .count(let name): try sink.count(name)
      case .plural(let count, let forms, let contents):
        try sink.plural(count, forms) { (index, sink) throws(TemplateError) in
          try expand(contents[index], at: site, into: &sink)
        }
      case .section(let name, let inverted, let content):
        try sink.section(name, inverted: inverted) { (sink) throws(TemplateError) in
          try expand(content, at: site, into: &sink)
        }
      case .include(let inclusion): try include(inclusion, at: site, into: &sink)
      case .block(let block): try show(block, at: site, into: &sink)
      }
    }
  }

  private func include<S: Sink>(
    _ inclusion: Inclusion, at site: Site, into sink: inout S
  ) throws(TemplateError) {
    guard let template = templates[inclusion.template] else {
      guard isStrict else { return }
      let nearest = Array(templates.keys.nearest(to: inclusion.template).prefix(3))
      throw TemplateError(
        .unknownTemplate(inclusion.template, nearest: nearest), at: inclusion.place)
    }
    if isStrict { try checkArguments(of: inclusion) }
    var inner = try site.deeper(inclusion.template, at: inclusion.place)
    inner.indentation = inclusion.isStandalone ? site.indentation + inclusion.indentation : []
    inner.arguments.merge(inclusion.arguments) { outer, _ in outer }
    try expand(template.nodes, at: inner, into: &sink)
  }

  private func show<S: Sink>(
    _ block: Block, at site: Site, into sink: inout S
  ) throws(TemplateError) {
    let content = site.arguments[block.name] ?? block
    var inner = try site.deeper(block.name, at: block.place)
    inner.indentation += block.indentation
    switch (block.startsLine, content.startsLine) {
    case (true, false) where !content.nodes.isEmpty:
      sink.text(inner.indentation)
      try expand(content.nodes, at: inner, into: &sink)
    case (false, true):
      try expand(content.nodes.withoutLineStart, at: inner, into: &sink)
    default:
      try expand(content.nodes, at: inner, into: &sink)
    }
  }
}

extension Site {
  fileprivate func deeper(_ name: String, at place: SourceLocation) throws(TemplateError) -> Site {
    guard depth < Expansion.maximumDepth else {
      throw TemplateError(.endlessInclusion(name), at: place)
    }
    var site = self
    site.depth += 1
    return site
  }
}

extension [Node] {
  fileprivate var withoutLineStart: ArraySlice<Node> {
    if case .lineStart = first { dropFirst() } else { self[...] }
  }
}

extension Expansion {
  /// Throws an error for a block argument that the parent doesn't define.
  func checkArguments(of inclusion: Inclusion) throws(TemplateError) {
    guard !inclusion.arguments.isEmpty else { return }
    var names = BlockNames(templates: templates)
    names.collect(from: inclusion.template)
    let arguments = inclusion.arguments.values.sorted { $0.place.line < $1.place.line }
    for argument in arguments where !names.found.contains(argument.name) {
      let known = names.found.nearest(to: argument.name)
      throw TemplateError(
        .unknownBlock(argument.name, parent: inclusion.template, known: known), at: argument.place)
    }
  }
}

/// The blocks of a template and all templates it includes.
private struct BlockNames {
  let templates: [String: ParsedTemplate]
  private(set) var found: Set<String> = []
  var visited: Set<String> = []

  mutating func collect(from template: String) {
    guard visited.insert(template).inserted, let nodes = templates[template]?.nodes else { return }
    collect(from: nodes)
  }

  private mutating func collect(from nodes: [Node]) {
    for node in nodes {
      switch node {
      case .text, .lineStart, .variable, .plural, .count: break
      case .section(_, _, let content): collect(from: content)
      case .block(let block):
        found.insert(block.name)
        collect(from: block.nodes)
      case .include(let inclusion):
        collect(from: inclusion.template)
        for argument in inclusion.arguments.values { collect(from: argument.nodes) }
      }
    }
  }
}
