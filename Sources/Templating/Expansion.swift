/// What an ``Expansion`` hands the pieces of a template to: a renderer or a compiler.
protocol Sink {
  /// Takes bytes as they stand.
  mutating func text(_ bytes: [UInt8])

  /// Takes a variable.
  mutating func variable(_ name: Name, escaped: Bool) throws(TemplateError)

  /// Takes a section, and calls `content` for what is in it as often as it sees fit.
  mutating func section(
    _ name: Name, inverted: Bool, content: (inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError)
}

/// Where an expansion is: what the tags that led there hand down.
struct Site {
  /// The template whose nodes are being expanded.
  var template: String
  /// What goes in front of each line.
  var indentation: [UInt8] = []
  /// What stands in for blocks; the arguments of the outermost parent tag win.
  var arguments: [String: Block] = [:]
  /// How many inclusions and blocks are open.
  var depth = 0

  init(_ template: String) {
    self.template = template
  }
}

/// Puts partials, parents and blocks in their places.
struct Expansion {
  /// The number of open inclusions and blocks from which they are taken to be endless.
  static let maximumDepth = 100

  let templates: [String: ParsedTemplate]
  /// Whether missing templates and blocks are faults; otherwise they count as empty.
  let isStrict: Bool

  func expand<S: Sink>(
    _ nodes: some Sequence<Node>, at site: Site, into sink: inout S
  ) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text(let bytes): sink.text(bytes)
      case .lineStart: if !site.indentation.isEmpty { sink.text(site.indentation) }
      case .variable(let name, let escaped): try sink.variable(name, escaped: escaped)
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
    inner.template = template.name
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
  fileprivate func deeper(_ name: String, at place: Place) throws(TemplateError) -> Site {
    guard depth < Expansion.maximumDepth else {
      throw TemplateError(.endlessInclusion(name), at: place)
    }
    var site = self
    site.depth += 1
    return site
  }
}

extension [Node] {
  /// The nodes from after the first line's start on.
  fileprivate var withoutLineStart: ArraySlice<Node> {
    if case .lineStart = first { dropFirst() } else { self[...] }
  }
}
