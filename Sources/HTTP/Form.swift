/// Names and values in order, as a form sends them and as a query string holds them
/// (`application/x-www-form-urlencoded`, URL Standard section 5).
public struct Form: Sendable, Equatable {
  /// One name with its value.
  public struct Entry: Sendable, Equatable {
    /// The name, decoded.
    public let name: String
    /// The value, decoded; empty where the text had no equals sign.
    public let value: String

    /// Makes an entry.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The most fields that are read; a form with more is refused.
  public static let maximumCount = 1000

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
  /// or holds NUL, or when there are more than `maximumCount` fields.
  public init?(urlEncoded bytes: [UInt8]) {
    self.init(bytes.span)
  }

  /// Reads a query string, without its question mark, by the same rules as a body.
  public init?(urlEncoded text: String) {
    self.init(text.utf8.span)
  }

  private init?(_ span: borrowing Span<UInt8>) {
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
        guard entries.count < Form.maximumCount,
          let name = PercentCoding.decode(span, start..<(equals ?? end), plus: .space),
          let value = PercentCoding.decode(span, (equals.map { $0 + 1 } ?? end)..<end, plus: .space)
        else { return nil }
        entries.append(Entry(name: name, value: value))
      }
      start = end + 1
    }
  }

  /// Whether there is no entry.
  public var isEmpty: Bool { entries.isEmpty }

  /// The first value of the name.
  public subscript(name: String) -> String? {
    for entry in entries where entry.name == name { return entry.value }
    return nil
  }

  /// Every value of the name, in order.
  public func all(_ name: String) -> [String] {
    entries.compactMap { $0.name == name ? $0.value : nil }
  }

  /// Adds an entry after the others.
  public mutating func add(_ name: String, _ value: String) {
    entries.append(Entry(name: name, value: value))
  }

  /// The coded text, for a query string or a body; spaces are written `%20`.
  public var urlEncoded: String {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func encode(into bytes: inout [UInt8]) {
    for (index, entry) in entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      PercentCoding.encode(entry.name, into: &bytes)
      bytes.append(UInt8(ascii: "="))
      PercentCoding.encode(entry.value, into: &bytes)
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
