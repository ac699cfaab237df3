/// A context of the specification's kind: any tree of data, looked up by name while rendering.
///
/// Pages do not use it; they are bound to a ``ViewModel``. In a section, ``null``, `false`, zero,
/// an empty text, empty markup and an empty list count as false.
public enum Value: Sendable, Equatable {
  /// Nothing: renders as the empty text.
  case null
  /// A condition: renders as `true` or `false`.
  case bool(Bool)
  /// A text, escaped where it is inserted.
  case text(String)
  /// A whole number in decimal digits.
  case number(Int)
  /// HTML that is inserted as it stands.
  case markup(Markup)
  /// Values that a section renders one after the other.
  case list([Value])
  /// Named values.
  case record([String: Value])
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes ``null``.
  public init(nilLiteral: ()) { self = .null }

  /// Makes a condition.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Makes a text.
  public init(stringLiteral value: String) { self = .text(value) }

  /// Makes a number.
  public init(integerLiteral value: Int) { self = .number(value) }

  /// Makes a list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }

  /// Makes a record; of two members with one name the later one counts.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .record(Dictionary(elements, uniquingKeysWith: { _, later in later }))
  }
}

extension Value {
  /// Whether a section over the value is shown.
  var isTrue: Bool {
    switch self {
    case .null: false
    case .bool(let flag): flag
    case .text(let text): !text.isEmpty
    case .number(let number): number != 0
    case .markup(let markup): !markup.bytes.isEmpty
    case .list(let values): !values.isEmpty
    case .record: true
    }
  }

  /// The value that `path` leads to, or nil where a name is missing on the way.
  subscript(path: ArraySlice<String>) -> Value? {
    var value = self
    for name in path {
      guard case .record(let members) = value, let member = members[name] else { return nil }
      value = member
    }
    return value
  }
}
