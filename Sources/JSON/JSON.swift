/// A JSON value as RFC 8259 defines it.
///
/// What is read stays what was written: members keep their order and numbers their text, so a
/// document that is stored and given back says the same as before.
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
  /// A number, as its text.
  case number(Number)
  /// A string.
  case text(UntrustedText)
  /// Values in order.
  case array([JSON])
  /// Named values in the order in which they were written.
  case object(Object)
}

extension JSON {
  /// Makes a string of text of the program's own.
  public static func string(_ text: String) -> JSON { .text(UntrustedText(text)) }

  /// The truth value, or nil when this is something else.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number, or nil when this is something else; a text of digits is not a number.
  public var numberValue: Number? {
    if case .number(let value) = self { value } else { nil }
  }

  /// The string, or nil when this is something else.
  public var textValue: UntrustedText? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The elements, or nil when this is something else.
  public var arrayValue: [JSON]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members, or nil when this is something else.
  public var objectValue: Object? {
    if case .object(let value) = self { value } else { nil }
  }

  /// Whether this is the literal `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The member of that name, or nil when there is none or this is not an object.
  public subscript(_ name: String) -> JSON? { objectValue?[name] }

  /// The member of a name that came from outside, or nil when there is none or this is not an object.
  public subscript(_ name: UntrustedText) -> JSON? { objectValue?[name] }
}

extension JSON: ExpressibleByNilLiteral {
  /// Makes `null`.
  ///
  /// Mind the type: in `condition ? nil : value` with a `JSON` value this is `null` and not an
  /// absent `JSON?`; there write `JSON?.none`.
  public init(nilLiteral: ()) { self = .null }
}

extension JSON: ExpressibleByBooleanLiteral {
  /// Makes `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByIntegerLiteral {
  /// Makes a whole number.
  public init(integerLiteral value: Int64) { self = .number(Number(value)) }
}

extension JSON: ExpressibleByStringInterpolation {
  /// Makes a text.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension JSON: ExpressibleByArrayLiteral {
  /// Makes an array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON: ExpressibleByDictionaryLiteral {
  /// Makes an object; every name may stand once.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Object(elements))
  }
}
