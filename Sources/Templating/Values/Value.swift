/// A context as in the specification: any tree of data, looked up by name while rendering.
///
/// Pages don't use it; they're bound to a ``ViewModel``. In a section, ``null``, `false`, zero,
/// empty text, empty markup, and an empty list are false.
public enum Value: Sendable, Equatable {
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
  public init(nilLiteral: ()) { self = .null }

  /// Creates a condition.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates a text.
  public init(stringLiteral value: String) { self = .text(value) }

  /// Creates a number.
  public init(integerLiteral value: Int) { self = .number(value) }

  /// Creates a list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }

  /// Creates a record; the last of two members with the same name wins.
  public init(dictionaryLiteral elements: (String, Value)...) {
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
