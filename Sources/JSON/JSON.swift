public import Text

/// A JSON value (RFC 8259).
///
/// Members keep their order and numbers their text, so a document that is stored and returned is
/// unchanged.
///
/// ```swift
/// let value = try JSON.parse(Array(#"{"mfa": {"state": "ENABLED"}}"#.utf8))
/// value["mfa"]?["state"] == "ENABLED"  // true
/// ```
public enum JSON: Sendable, Equatable {
  /// The literal `null`.
  case null
  /// The literals `true` and `false`.
  case bool(Bool)
  /// A number, as written.
  case number(Number)
  /// A string.
  case text(UntrustedText)
  /// Values in order.
  case array([JSON])
  /// Named values in the order written.
  case object(Object)
}

extension JSON {
  /// Creates a string from the program's own text.
  public static func string(_ text: String) -> JSON { .text(UntrustedText(text)) }

  /// The Boolean; nil for other types.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number; nil for other types, including strings of digits.
  public var numberValue: Number? {
    if case .number(let value) = self { value } else { nil }
  }

  /// The string; nil for other types.
  public var textValue: UntrustedText? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The elements; nil for other types.
  public var arrayValue: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members; nil for other types.
  public var objectValue: Object? {
    if case .object(let value) = self { value } else { nil }
  }

  /// Whether a string or a name has the character U+0000, which not every database can store.
  public var hasNUL: Bool {
    switch self {
    case .text(let text): text.utf8.contains(0)
    case .array(let elements): elements.contains(where: \.hasNUL)
    case .object(let object): object.contains { $0.name.utf8.contains(0) || $0.value.hasNUL }
    case .null, .bool, .number: false
    }
  }

  /// Whether this is the literal `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Returns the member with a name; nil when there's none or this isn't an object.
  public subscript(_ name: String) -> JSON? { objectValue?[name] }

  /// Returns the member with an untrusted name; nil when there's none or this isn't an object.
  public subscript(_ name: UntrustedText) -> JSON? { objectValue?[name] }
}

extension JSON: ExpressibleByNilLiteral {
  /// Creates `null`.
  ///
  /// In `condition ? nil : value` with a `JSON` value, nil is `null` rather than a missing `JSON?`;
  /// use `JSON?.none` for the latter.
  public init(nilLiteral: ()) { self = .null }
}

extension JSON: ExpressibleByBooleanLiteral {
  /// Creates `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByIntegerLiteral {
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .number(Number(value)) }
}

extension JSON: ExpressibleByStringInterpolation {
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension JSON: ExpressibleByArrayLiteral {
  /// Creates an array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON: ExpressibleByDictionaryLiteral {
  /// Creates an object; names must be unique.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Object(elements))
  }
}
