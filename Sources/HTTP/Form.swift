public import Text

/// Names and values in order, from a form body or a query string
/// (`application/x-www-form-urlencoded`, URL Standard section 5).
public struct Form: Sendable, Equatable {
  /// A name and its value.
  public struct Entry: Sendable, Equatable {
    /// The name, decoded.
    public let name: UntrustedText
    /// The value, decoded; empty when there was no equals sign.
    public let value: UntrustedText

    /// Creates an entry.
    public init(name: UntrustedText, value: UntrustedText) {
      self.name = name
      self.value = value
    }

    /// Creates an entry for a link or form created by the program.
    public init(name: String, value: String) {
      self.init(name: UntrustedText(name), value: UntrustedText(value))
    }
  }

  /// The maximum number of fields; larger forms are rejected.
  public static let maximumCount = 1000
  /// The default maximum length of a field, in bytes.
  public static let usualLength = 16 << 10
  /// The maximum length of a multiline field, such as a pasted list, in bytes.
  public static let longestText = 4 << 20
  /// The character in place of NUL in a field that shows it, U+2400 (symbol for null).
  public static let visibleNUL: Unicode.Scalar = "\u{2400}"

  /// The entries in order.
  public private(set) var entries: [Entry]

  /// Creates a form from entries.
  public init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  /// Parses a query string, without its question mark.
  ///
  /// Returns nil when a percent sign isn't followed by two hexadecimal digits, a name or value
  /// isn't UTF-8 or contains NUL, a name is longer than ``UntrustedText/longestName`` bytes, a
  /// value has too many combining marks in a row, or there are more than `maximumCount` fields.
  public init?(urlEncoded text: String) {
    guard let form = try? Form(reading: text.utf8.span) else { return nil }
    self = form
  }

  /// Parses a body or a query string, by the same rules.
  ///
  /// - Parameters:
  ///   - span: The bytes.
  ///   - field: The name of a field in which NUL becomes ``visibleNUL``; nil for none.
  /// - Throws: The reason it's invalid.
  public init(
    reading span: borrowing Span<UInt8>, showingNULIn field: StaticString? = nil
  ) throws(FormError) {
    let field = field.map { UntrustedText($0.description) }
    entries = []
    var start = 0
    while start < span.count {
      var end = start
      var equals: Int?
      while end < span.count, span[end] != UInt8(ascii: "&") {
        if equals == nil, span[end] == UInt8(ascii: "=") { equals = end }
        end += 1
      }
      if end > start {
        guard entries.count < Form.maximumCount else { throw .tooManyFields }
        entries.append(
          try Form.entry(
            span, start..<(equals ?? end), (equals.map { $0 + 1 } ?? end)..<end,
            showingNULIn: field))
      }
      start = end + 1
    }
  }

  /// Parses one field; checks the length of the name before decoding it.
  private static func entry(
    _ span: borrowing Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>,
    showingNULIn field: UntrustedText?
  ) throws(FormError) -> Entry {
    guard name.count <= 3 * UntrustedText.longestName else { throw .nameTooLong }
    let name = try PercentCoding.read(span, name, plus: .space)
    guard name.byteCount <= UntrustedText.longestName else { throw .nameTooLong }
    return Entry(
      name: name,
      value: try PercentCoding.read(span, value, plus: .space, showsNUL: name == field))
  }

  /// Whether there are no entries.
  public var isEmpty: Bool { entries.isEmpty }

  /// Returns the first value of a name; nil when there's none.
  public subscript(name: String) -> UntrustedText? {
    let name = UntrustedText(name)
    for entry in entries where entry.name == name { return entry.value }
    return nil
  }

  /// Returns the first value of a name as a `String`.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - limit: The maximum length, in bytes.
  /// - Returns: The value; nil when the field is missing or longer.
  public func text(_ name: String, atMost limit: Int = Form.usualLength) -> String? {
    self[name]?.text(atMost: limit)
  }

  /// Returns all values of a name, in order.
  public func all(_ name: String) -> [UntrustedText] {
    let name = UntrustedText(name)
    return entries.compactMap { $0.name == name ? $0.value : nil }
  }

  /// Appends an entry.
  public mutating func add(_ name: String, _ value: String) {
    add(Entry(name: name, value: value))
  }

  /// Appends an entry.
  public mutating func add(_ entry: Entry) { entries.append(entry) }

  /// The encoded text, for a query string or a body; spaces become `%20`.
  public var urlEncoded: String {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func encode(into bytes: inout [UInt8]) {
    for (index, entry) in entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      URIComponent.append(entry.name.text, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      URIComponent.append(entry.value.text, to: &bytes)
    }
  }

  /// Returns the path with these entries as its query; just the path when there are no entries.
  ///
  /// ```swift
  /// (["q": "ann", "page": next] as Form).query(of: ConsolePaths.accounts(project))
  /// // "/projects/p1/accounts?q=ann&page=…"
  /// ```
  public func query(of path: String) -> String {
    guard !isEmpty else { return path }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.utf8.count + 64)
    bytes += path.utf8
    bytes.append(UInt8(ascii: "?"))
    encode(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Form: ExpressibleByDictionaryLiteral {
  /// Creates a form from names and values in the order written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Entry(name: $0.0, value: $0.1) })
  }
}
