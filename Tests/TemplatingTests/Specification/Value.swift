import Localization

@testable import Templating

/// A context as in the specification: any tree of data, looked up by name while rendering.
///
/// In a section, ``null``, `false`, zero, empty text, empty markup, and an empty list are false.
enum Value: Sendable, Equatable {
  /// Nothing; renders as empty text.
  case null
  /// A condition; renders as `true` or `false`.
  case bool(Bool)
  /// Text, escaped when inserted.
  case text(String)
  /// An integer in decimal.
  case number(Int)
  /// HTML, inserted unescaped.
  case markup(Markup)
  /// Values for a section that is rendered once for each.
  case list([Value])
  /// Named values.
  case record([String: Value])
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates ``null``.
  init(nilLiteral: ()) { self = .null }

  /// Creates a condition.
  init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates a text.
  init(stringLiteral value: String) { self = .text(value) }

  /// Creates a number.
  init(integerLiteral value: Int) { self = .number(value) }

  /// Creates a list.
  init(arrayLiteral elements: Value...) { self = .list(elements) }

  /// Creates a record; the last of two members with the same name wins.
  init(dictionaryLiteral elements: (String, Value)...) {
    self = .record(Dictionary(elements, uniquingKeysWith: { _, later in later }))
  }
}

extension Value {
  /// Whether a section for the value is shown.
  var isTrue: Bool {
    switch self {
    case .null: false
    case .bool(let flag): flag
    case .text(let text): !text.isEmpty
    case .number(let number): number != 0
    case .markup(let markup): !markup.isEmpty
    case .list(let values): !values.isEmpty
    case .record: true
    }
  }

  /// Returns the value at `path`; nil when a name is missing.
  subscript(path: ArraySlice<String>) -> Value? {
    var value = self
    for name in path {
      guard case .record(let members) = value, let member = members[name] else { return nil }
      value = member
    }
    return value
  }
}

/// Renders a template with a tree of data.
struct ValueRenderer: Sink {
  private var page = Output(reserving: 1024)
  private let catalog: Catalog
  private var stack: [Value]

  init(_ context: Value, _ catalog: Catalog) {
    self.catalog = catalog
    stack = [context]
  }

  var output: [UInt8] { page.bytes }

  mutating func text(_ bytes: [UInt8]) {
    page.append(bytes)
  }

  mutating func variable(_ name: Name, escaped: Bool) {
    switch value(of: name) {
    case .text(let text): escaped ? page.appendEscaped(text) : page.append(text)
    case .number(let number): page.append(number)
    case .bool(let flag): page.append(flag ? "true" : "false")
    case .markup(let markup): markup.append(to: &page, catalog)
    case .null, .list, .record: break
    }
  }

  mutating func count(_ name: Name) {
    guard case .number(let number) = value(of: name) else { return }
    page.append(catalog.text(.value(.number(number))))
  }

  mutating func plural(
    _ count: Name, _ forms: MessageForms,
    content: (Int, inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    guard case .number(let number) = value(of: count) else { return }
    try content(forms.index(for: number), &self)
  }

  mutating func section(
    _ name: Name, inverted: Bool, content: (inout Self) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    let value = value(of: name)
    if inverted {
      if !value.isTrue { try content(&self) }
      return
    }
    guard value.isTrue else { return }
    let contexts = if case .list(let values) = value { values } else { [value] }
    for context in contexts {
      stack.append(context)
      try content(&self)
      stack.removeLast()
    }
  }

  /// Resolves a name: its first part in the innermost context that has it, the rest from there.
  private func value(of name: Name) -> Value {
    guard let first = name.path.first else { return stack.last ?? .null }
    let found = stack.lazy.reversed().compactMap { $0[[first]] }.first
    return found?[name.path.dropFirst()] ?? .null
  }
}

extension TemplateLibrary {
  /// Renders a template with a tree of data, leniently as the specification does: missing names and
  /// partials render as nothing.
  func render(_ name: String, with value: Value) throws(TemplateError) -> [UInt8] {
    var renderer = ValueRenderer(value, catalog)
    guard let template = templates[name] else { return [] }
    try Expansion(templates: templates, isStrict: false)
      .expand(template.nodes, at: Site(), into: &renderer)
    return renderer.output
  }
}
