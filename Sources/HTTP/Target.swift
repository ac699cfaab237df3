public import Text

/// A request target: a path, and a query after a question mark.
///
/// The path is split at its slashes before segments are decoded, so `%2F` inside a segment is data.
/// Nothing is normalized: `.`, `..`, and empty segments are kept.
public struct Target: Sendable, Equatable {
  /// The path as sent, percent-encoded, with its leading slash.
  public let rawPath: String
  /// The text after the question mark, percent-encoded; nil when there's no question mark.
  public let rawQuery: String?
  /// The decoded segments: none for `/`, `["a"]` for `/a`, `["a", ""]` for `/a/`.
  public let segments: [UntrustedText]
  /// The decoded query; empty when there's none.
  public let query: Form

  /// Parses the target of a request line.
  ///
  /// The absolute form (RFC 9112 section 3.2.2) is accepted; its scheme and host are ignored.
  /// Returns nil when the text isn't a path, contains a byte not allowed in URLs, has invalid
  /// percent-encoding, or decodes to NUL or to invalid UTF-8.
  public init?(_ text: String) {
    let span = text.utf8.span
    guard let start = Target.pathStart(span) else { return nil }
    var slashes = 0
    var codes = false
    var end = span.count
    for index in start..<span.count {
      let byte = span[index]
      guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else { return nil }
      if end < span.count { continue }
      switch byte {
      case UInt8(ascii: "/"): slashes += 1
      case UInt8(ascii: "%"): codes = true
      case UInt8(ascii: "?"): end = index
      default: break
      }
    }
    if end < span.count {
      let raw = text.slice((end + 1)..<span.count)
      guard let query = Form(urlEncoded: raw) else { return nil }
      self.rawQuery = raw
      self.query = query
      self.rawPath = start == end ? "/" : text.slice(start..<end)
    } else {
      rawQuery = nil
      query = Form()
      rawPath = start == 0 ? text : start == end ? "/" : text.slice(start..<end)
    }
    var segments: [UntrustedText] = []
    if end - start > 1 {
      segments.reserveCapacity(slashes)
      var first = start + 1
      while first <= end {
        var last = first
        while last < end, span[last] != UInt8(ascii: "/") { last += 1 }
        if codes {
          guard let segment = PercentCoding.decode(span, first..<last) else { return nil }
          segments.append(segment)
        } else {
          segments.append(UntrustedText(text.slice(first..<last)))
        }
        first = last + 1
      }
    }
    self.segments = segments
  }

  private init(_ rawPath: String, _ rawQuery: String?, _ segments: [UntrustedText], _ query: Form) {
    (self.rawPath, self.rawQuery, self.segments, self.query) = (rawPath, rawQuery, segments, query)
  }

  /// Returns the target without its first segments; nil if nothing of the path is left.
  public func droppingFirst(_ count: Int) -> Target? {
    var path = rawPath.utf8[...]
    for _ in 0..<count { path = path.dropFirst().drop { $0 != UInt8(ascii: "/") } }
    guard !path.isEmpty else { return nil }
    let rest = path.count == 1 ? [] : Array(segments.dropFirst(count))
    return Target(String(Substring(path)), rawQuery, rest, query)
  }

  /// Returns where the path begins: at 0, or after the scheme and host of the absolute form.
  private static func pathStart(_ span: borrowing Span<UInt8>) -> Int? {
    guard span.count > 0 else { return nil }
    if span[0] == UInt8(ascii: "/") { return 0 }
    for scheme in ["http://", "https://"] {
      let prefix = scheme.utf8.span
      guard span.count > prefix.count else { continue }
      var matches = true
      for index in prefix.indices where lowercased(span[index]) != prefix[index] {
        matches = false
      }
      guard matches else { continue }
      var index = prefix.count
      while index < span.count, span[index] != UInt8(ascii: "/"), span[index] != UInt8(ascii: "?") {
        guard span[index] > 0x20, span[index] < 0x7F, span[index] != UInt8(ascii: "#") else {
          return nil
        }
        index += 1
      }
      return index > prefix.count ? index : nil
    }
    return nil
  }
}

extension String {
  /// Returns the text between two UTF-8 offsets, both next to ASCII characters.
  func slice(_ range: Range<Int>) -> String {
    let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
    return String(self[start..<utf8.index(start, offsetBy: range.count)])
  }
}

extension Target {
  /// Parses a malformed target up to the first path segment that can't be decoded.
  ///
  /// The result shows which API or page a request was for, so that its error has the right format.
  public static func beginning(of text: String) -> Target? {
    // As bytes: the text is unchecked, and comparing its characters can be slow.
    let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let slash = UInt8(ascii: "/")
    guard path.first == slash, var readable = Target("/") else { return nil }
    var begun = ""
    // The first few segments are enough; more would be wasted work on malformed input.
    let segments = path.dropFirst().split(
      separator: slash, maxSplits: 4, omittingEmptySubsequences: false)
    for segment in segments.prefix(4) {
      begun += "/" + String(Substring(segment))
      guard let longer = Target(begun) else { break }
      readable = longer
    }
    return readable
  }
}
