import Localization

/// Resolves the names in a template against the shapes of its models, and flattens it.
struct Compiler: Sink {
  private var literals: [UInt8] = []
  private var steps: [Program.Step] = []
  private var paths: [[Int]] = []
  private var plurals: [Program.Plural] = []
  private var literalStart = 0
  private var scopes: [Scope]

  static func compile(
    _ name: String, from library: TemplateLibrary, for shape: Shape
  ) throws(TemplateError) -> Program {
    guard let template = library.templates[name] else {
      let nearest = Array(library.names.nearest(to: name).prefix(3))
      throw TemplateError(
        .unknownTemplate(name, nearest: nearest), at: SourceLocation(file: name, line: 0))
    }
    let place = SourceLocation(file: name, line: 0)
    var compiler = Compiler(scopes: [.model(try shape.checked(at: place), depth: 0)])
    try Expansion(templates: library.templates, isStrict: true)
      .expand(template.nodes, at: Site(), into: &compiler)
    compiler.endLiteral()
    return Program(
      literals: compiler.literals, steps: compiler.steps, paths: compiler.paths,
      plurals: compiler.plurals, catalog: library.catalog)
  }

  private init(scopes: [Scope]) {
    self.scopes = scopes
  }

  mutating func text(_ bytes: [UInt8]) {
    literals += bytes
  }

  mutating func variable(_ name: Name, escaped: Bool) throws(TemplateError) {
    let meaning = try scopes.resolve(name)
    switch meaning.kind {
    case .text where !escaped:
      throw name.unsuitable("is text, which can't be inserted unescaped; use a markup key")
    case .texts, .list, .object:
      throw name.unsuitable("is \(meaning.kind.words), which can be used only in a section")
    case .text, .number, .flag, .markup: break
    }
    endLiteral()
    steps.append(.insert(reference(to: meaning)))
  }

  mutating func count(_ name: Name) throws(TemplateError) {
    endLiteral()
    steps.append(.count(reference(to: try number(name))))
  }

  mutating func plural(
    _ count: Name, _ forms: MessageForms,
    content: (Int, inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    let reference = reference(to: try number(count))
    endLiteral()
    let index = plurals.count
    plurals.append(Program.Plural(forms: forms, ends: []))
    steps.append(.plural(reference, index))
    for form in forms.patterns.indices {
      try content(form, &self)
      endLiteral()
      plurals[index].ends.append(steps.count)
    }
  }

  /// Resolves the name of the number that chooses the plural form of a message.
  private func number(_ name: Name) throws(TemplateError) -> Meaning {
    let meaning = try scopes.resolve(name)
    guard case .number = meaning.kind else {
      throw name.unsuitable("is \(meaning.kind.words), but chooses a plural form; use a number key")
    }
    return meaning
  }

  mutating func section(
    _ name: Name, inverted: Bool, content: (inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    let meaning = try scopes.resolve(name)
    let reference = reference(to: meaning)
    endLiteral()
    let start = steps.count
    steps.append(.inverted(reference, end: start))
    if inverted {
      try content(&self)
    } else {
      scopes.append(try scope(of: meaning, at: name.place))
      try content(&self)
      scopes.removeLast()
    }
    endLiteral()
    let end = steps.count
    steps[start] =
      switch (inverted, meaning.kind) {
      case (true, _): .inverted(reference, end: end)
      case (false, .flag): .condition(reference, end: end)
      case (false, _): .section(reference, end: end)
      }
  }

  private func scope(
    of meaning: Meaning, at place: SourceLocation
  ) throws(TemplateError) -> Scope {
    let depth = scopes.count { $0.isRendered }
    switch meaning.kind {
    case .text, .number, .flag, .markup: return .scalar(meaning)
    case .texts: return .text(depth: depth)
    case .list(let shape), .object(let shape):
      return .model(try shape().checked(at: place), depth: depth)
    }
  }

  private mutating func reference(to meaning: Meaning) -> Program.Reference {
    if !meaning.path.isEmpty { paths.append(meaning.path) }
    let path = meaning.path.isEmpty ? nil : paths.count - 1
    return Program.Reference(depth: meaning.depth, key: meaning.key, path: path)
  }

  private mutating func endLiteral() {
    if literalStart < literals.count { steps.append(.literal(literalStart..<literals.count)) }
    literalStart = literals.count
  }
}

extension Shape {
  /// Returns the shape after checking that its names are unique.
  fileprivate func checked(at place: SourceLocation) throws(TemplateError) -> Shape {
    guard let repeatedName else { return self }
    throw TemplateError(.repeatedKey(repeatedName, model: model), at: place)
  }
}
