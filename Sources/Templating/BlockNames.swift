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
  private var visited: Set<String> = []

  init(templates: [String: ParsedTemplate]) {
    self.templates = templates
  }

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
