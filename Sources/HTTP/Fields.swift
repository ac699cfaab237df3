import Text

/// Header fields in order; a name may occur more than once.
///
/// A value with a control character other than a tab, such as CR, LF, or NUL, is **not stored**,
/// and `add` returns false. A handler can therefore copy a request value to a response without
/// risking response splitting (RFC 9110 section 5.5).
public struct Fields: Sendable, Equatable {
  /// One field line.
  public struct Field: Sendable, Equatable {
    /// The name.
    public let name: FieldName
    /// The value, without line breaks.
    public let value: String

    /// Compares names case-insensitively and values byte by byte.
    public static func == (one: Field, other: Field) -> Bool {
      one.name == other.name && one.value.isSameBytes(as: other.value)
    }
  }

  private var lines: [Field]

  /// Creates an empty list.
  public init() {
    lines = []
  }

  /// Reserves space for a number of field lines.
  public mutating func reserveCapacity(_ count: Int) {
    lines.reserveCapacity(count)
  }

  /// The first value of a name; setting replaces all lines of that name, and nil removes them.
  ///
  /// A value with a control character isn't stored; existing lines are removed anyway.
  public subscript(name: FieldName) -> String? {
    get {
      for line in lines where line.name == name { return line.value }
      return nil
    }
    set {
      if let index = lines.firstIndex(where: { $0.name == name }) {
        if let newValue, Fields.allows(newValue) {
          lines[index] = Field(name: name, value: newValue)
          guard index + 1 < lines.count else { return }
          let rest = lines[(index + 1)...].filter { $0.name != name }
          lines.replaceSubrange((index + 1)..., with: rest)
        } else {
          lines.removeAll { $0.name == name }
        }
      } else if let newValue {
        add(name, newValue)
      }
    }
  }

  /// Appends a line, keeping existing lines of the same name.
  ///
  /// - Returns: False when the value contains a control character and wasn't stored.
  @discardableResult
  public mutating func add(_ name: FieldName, _ value: String) -> Bool {
    guard Fields.allows(value) else { return false }
    lines.append(Field(name: name, value: value))
    return true
  }

  /// Returns all values of a name, in order.
  public func all(_ name: FieldName) -> [String] {
    lines.compactMap { $0.name == name ? $0.value : nil }
  }

  /// Returns whether a value is allowed in a field line: no control characters except tab.
  public static func allows(_ value: String) -> Bool {
    let bytes = value.utf8.span
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 && byte != 0x09 || byte == 0x7F { return false }
    }
    return true
  }
}

extension Fields: Sequence {
  /// Iterates over the field lines in order.
  public func makeIterator() -> IndexingIterator<[Field]> {
    lines.makeIterator()
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// Creates a list of names and values in the order written.
  public init(dictionaryLiteral elements: (FieldName, String)...) {
    self.init()
    for (name, value) in elements { add(name, value) }
  }
}
