/// Header fields in the order they came or will leave; a name may occur more than once.
///
/// No value can end its line: one that holds a control character other than a tab (so CR, LF or
/// NUL) is **not stored**, and `add` says so. What a handler takes from a request may therefore be
/// put into a response without splitting it (RFC 9110 section 5.5).
public struct Fields: Sendable, Equatable {
  /// One field line.
  public struct Field: Sendable, Equatable {
    /// The name.
    public let name: FieldName
    /// The value, without line ends.
    public let value: String

    /// Compares the names without regard to case, and the values byte by byte.
    public static func == (one: Field, other: Field) -> Bool {
      one.name == other.name && one.value.isSameBytes(as: other.value)
    }
  }

  private var lines: [Field]

  /// Makes an empty list.
  public init() {
    lines = []
  }

  /// The number of field lines.
  public var count: Int { lines.count }

  /// Whether there is no field line.
  public var isEmpty: Bool { lines.isEmpty }

  /// Makes room for a number of lines that is known beforehand.
  public mutating func reserveCapacity(_ count: Int) {
    lines.reserveCapacity(count)
  }

  /// The first value of the name; setting takes all others of that name away, nil all of them.
  ///
  /// A value that cannot stand on one line is not stored; the old ones go all the same.
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

  /// Adds a line after the others, and leaves those of the same name.
  ///
  /// - Returns: False when the value holds a control character and was not stored.
  @discardableResult
  public mutating func add(_ name: FieldName, _ value: String) -> Bool {
    guard Fields.allows(value) else { return false }
    lines.append(Field(name: name, value: value))
    return true
  }

  /// Every value of the name, in order.
  public func all(_ name: FieldName) -> [String] {
    lines.compactMap { $0.name == name ? $0.value : nil }
  }

  /// Whether a value may stand in a field line: no control character but the tab.
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
  /// Walks over the field lines in order.
  public func makeIterator() -> IndexingIterator<[Field]> {
    lines.makeIterator()
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// Makes the list of names and values as written.
  public init(dictionaryLiteral elements: (FieldName, String)...) {
    self.init()
    for (name, value) in elements { add(name, value) }
  }
}
