struct Meaning {
  /// The position of its model among the open sections.
  let depth: Int
  let key: Int
  /// The remaining keys of a dotted name.
  var path: [Int] = []
  var kind: Kind
}

/// The names that a section makes accessible while its content is compiled.
enum Scope {
  /// The keys of a model, at `depth` among the open sections while rendering.
  case model(Shape, depth: Int)
  /// A text in a list, as `.`.
  case text(depth: Int)
  /// The section's own value, as `.`; no section is opened while rendering.
  case scalar(Meaning)

  /// Whether a section is also opened while rendering.
  var isRendered: Bool {
    if case .scalar = self { false } else { true }
  }
}

extension [Scope] {
  func resolve(_ name: Name) throws(TemplateError) -> Meaning {
    guard let first = name.path.first else { return try resolveDot(name) }
    for case .model(let shape, let depth) in reversed() {
      if let key = shape.names.firstIndex(of: first) {
        return try shape.follow(name, from: key, at: depth)
      }
      if name.path.count == 1, let list = shape.list(whosePresenceIs: first) {
        return Meaning(depth: depth, key: list, kind: .flag)
      }
    }
    throw unknown(name, first)
  }

  private func resolveDot(_ name: Name) throws(TemplateError) -> Meaning {
    switch last {
    case .text(let depth): return Meaning(depth: depth, key: 0, kind: .text)
    case .scalar(let meaning): return meaning
    case .model(let shape, _):
      throw name.unsuitable("is a \(shape.model); use one of its keys")
    case nil: throw name.unsuitable("has no value here")
    }
  }

  private func unknown(_ name: Name, _ part: String) -> TemplateError {
    let shapes = compactMap { if case .model(let shape, _) = $0 { shape } else { nil } }
    let models = shapes.reversed().map(\.model).joined(separator: " or ")
    let known = Set(shapes.flatMap(\.names)).nearest(to: part)
    return TemplateError(.unknownName(part, model: models, known: known), at: name.place)
  }
}

extension Shape {
  /// Returns the index of the list that a flag is named after: of `rows` for `hasRows`.
  fileprivate func list(whosePresenceIs flag: String) -> Int? {
    guard flag.hasPrefix("has") else { return nil }
    let word = flag.dropFirst(3)
    let name = word.prefix(1).lowercased() + word.dropFirst()
    return names.indices.first { kinds[$0].isList && names[$0] == name }
  }

  /// Resolves a dotted name whose first part is the key at index `key`.
  fileprivate func follow(
    _ name: Name, from key: Int, at depth: Int
  ) throws(TemplateError) -> Meaning {
    var meaning = Meaning(depth: depth, key: key, kind: kinds[key])
    for part in name.path.dropFirst() {
      guard case .object(let makeShape) = meaning.kind else {
        throw name.unsuitable("is invalid: \(meaning.kind.words) has no key “\(part)”")
      }
      let shape = makeShape()
      guard let next = shape.names.firstIndex(of: part) else {
        let known = shape.names.nearest(to: part)
        throw TemplateError(.unknownName(part, model: shape.model, known: known), at: name.place)
      }
      meaning.kind = shape.kinds[next]
      meaning.path.append(next)
    }
    return meaning
  }
}

extension Name {
  func unsuitable(_ reason: String) -> TemplateError {
    TemplateError(.unsuitable(text, reason: reason), at: place)
  }
}

/// The kind of a key's value, known without a model.
@usableFromInline
enum Kind: Sendable {
  case text, number, flag, markup, texts
  case list(@Sendable () -> Shape)
  case object(@Sendable () -> Shape)

  var isList: Bool {
    switch self {
    case .texts, .list: true
    case .text, .number, .flag, .markup, .object: false
    }
  }

  /// The kind as text that can follow “is”.
  var words: String {
    switch self {
    case .text: "text"
    case .number: "a number"
    case .flag: "a flag"
    case .markup: "markup"
    case .texts: "a list of texts"
    case .list: "a list"
    case .object: "an object"
    }
  }
}

/// The names and kinds of a model's keys, independent of its type.
@usableFromInline
struct Shape: Sendable {
  /// The type of the model; its name is for errors, because describing it is slow.
  let type: Any.Type
  let names: [String]
  let kinds: [Kind]

  /// The name of the model, for errors.
  var model: String { String(describing: type) }

  /// The first duplicate name; nil when there's none.
  var repeatedName: String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }
}
