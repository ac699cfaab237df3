import Localization

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
