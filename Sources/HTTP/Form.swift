/// Names and values in order, as a form sends them and as a query string holds them
/// (`application/x-www-form-urlencoded`, URL Standard section 5).
public struct Form: Sendable, Equatable {
  /// One name with its value.
  public struct Entry: Sendable, Equatable {
    /// The name, decoded.
    public let name: UntrustedText
    /// The value, decoded; empty where the text had no equals sign.
    public let value: UntrustedText

    /// Makes an entry.
    public init(name: UntrustedText, value: UntrustedText) {
      self.name = name
      self.value = value
    }

    /// Makes an entry of a link or a form of our own.
    public init(name: String, value: String) {
      self.init(name: UntrustedText(name), value: UntrustedText(value))
    }
  }

  /// The most fields that are read; a form with more is refused.
  public static let maximumCount = 1000
  /// The most bytes of a field that a page reads without saying how many it may have.
  public static let usualLength = 16 << 10
  /// The most bytes of a field with many lines, such as a pasted list.
  public static let longestText = 4 << 20

  /// The entries in order.
  public private(set) var entries: [Entry]

  /// Makes a form of entries.
  public init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  /// Makes a form of names and values as written.
  public init(_ elements: KeyValuePairs<String, String>) {
    self.init(elements.map { Entry(name: $0.key, value: $0.value) })
  }

  /// Reads a body.
  ///
  /// Nothing when a percent sign is not followed by two digits, when a name or value is not UTF-8
  /// or holds NUL, when a name is longer than ``UntrustedText/longestName`` bytes, when a value has
  /// too many combining marks in a row, or when there are more than `maximumCount` fields.
  public init?(urlEncoded bytes: [UInt8]) {
    guard let form = try? Form(reading: bytes.span) else { return nil }
    self = form
  }

  /// Reads a query string, without its question mark, by the same rules as a body.
  public init?(urlEncoded text: String) {
    guard let form = try? Form(reading: text.utf8.span) else { return nil }
    self = form
  }

  /// Reads a body or a query string, and says what is wrong with it.
  public init(reading span: borrowing Span<UInt8>) throws(FormError) {
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
          try Form.entry(span, start..<(equals ?? end), (equals.map { $0 + 1 } ?? end)..<end))
      }
      start = end + 1
    }
  }

  /// Reads one field; its name is measured before it is decoded.
  private static func entry(
    _ span: borrowing Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>
  ) throws(FormError) -> Entry {
    guard name.count <= 3 * UntrustedText.longestName else { throw .nameTooLong }
    let name = try PercentCoding.read(span, name, plus: .space)
    guard name.byteCount <= UntrustedText.longestName else { throw .nameTooLong }
    return Entry(name: name, value: try PercentCoding.read(span, value, plus: .space))
  }

  /// Whether there is no entry.
  public var isEmpty: Bool { entries.isEmpty }

  /// The first value of the name.
  public subscript(name: String) -> UntrustedText? {
    let name = UntrustedText(name)
    for entry in entries where entry.name == name { return entry.value }
    return nil
  }

  /// The first value of the name as a `String`.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - limit: The most bytes it may have.
  /// - Returns: Nil when the field is absent or longer.
  public func text(_ name: String, atMost limit: Int = Form.usualLength) -> String? {
    self[name]?.text(atMost: limit)
  }

  /// Every value of the name, in order.
  public func all(_ name: String) -> [UntrustedText] {
    let name = UntrustedText(name)
    return entries.compactMap { $0.name == name ? $0.value : nil }
  }

  /// Adds an entry after the others.
  public mutating func add(_ name: String, _ value: String) {
    add(Entry(name: name, value: value))
  }

  /// Adds an entry after the others.
  public mutating func add(_ entry: Entry) { entries.append(entry) }

  /// The coded text, for a query string or a body; spaces are written `%20`.
  public var urlEncoded: String {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func encode(into bytes: inout [UInt8]) {
    for (index, entry) in entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      PercentCoding.encode(entry.name.text, into: &bytes)
      bytes.append(UInt8(ascii: "="))
      PercentCoding.encode(entry.value.text, into: &bytes)
    }
  }

  /// The path with these entries as its query; the path alone when there are none.
  ///
  /// ```swift
  /// Form(["q": "ann", "page": next]).query(of: ConsolePaths.accounts(project))
  /// // "/projects/p1/accounts?q=ann&page=…"
  /// ```
  public func query(of path: String) -> String {
    guard !isEmpty else { return path }
    var bytes = Array(path.utf8)
    bytes.append(UInt8(ascii: "?"))
    encode(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Form: ExpressibleByDictionaryLiteral {
  /// Makes the form of names and values as written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Entry(name: $0.0, value: $0.1) })
  }
}
