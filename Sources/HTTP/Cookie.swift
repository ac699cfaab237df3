public import Text

/// A cookie for `Set-Cookie` (RFC 6265bis section 4.1), always for this host only.
public struct Cookie: Sendable, Equatable, CustomStringConvertible {
  /// The cross-site requests that include the cookie.
  public enum SameSite: String, Sendable {
    /// Only top-level navigation with a safe method, such as a link to a page.
    case lax = "Lax"
    /// No cross-site requests.
    case strict = "Strict"
  }

  /// The name, which is a token.
  public let name: String
  /// The value; characters not allowed in a cookie are percent-encoded, and decoded by `Cookies`.
  public var value: String
  /// The path below which it's sent; `/` for names that start with `__Host-`.
  public var path: String
  /// Whether scripts can't read the cookie.
  public var httpOnly: Bool
  /// Whether the cookie is sent over TLS only; required for names that start with `__Host-`.
  public var secure: Bool
  /// The cross-site requests that include the cookie.
  public var sameSite: SameSite
  /// The lifetime in seconds; nil until the browser closes, 0 to remove the cookie.
  public var maxAge: Int?

  /// Creates a cookie; traps when the name isn't a token.
  public init(
    name: String, value: String, path: String = "/", httpOnly: Bool = true, secure: Bool,
    sameSite: SameSite = .lax, maxAge: Int? = nil
  ) {
    precondition(isToken(name), "a cookie's name is a token: \(name)")
    self.name = name
    self.value = value
    self.path = path
    self.httpOnly = httpOnly
    self.secure = secure
    self.sameSite = sameSite
    self.maxAge = maxAge
  }

  /// The value for `Set-Cookie`.
  public var description: String {
    let value = URIComponent.encode(value, keeping: "!#$&'()*+/:<=>?@[]^`{|}")
    var text = "\(name)=\(value); Path=\(path)"
    if let maxAge { text += "; Max-Age=\(maxAge)" }
    if secure { text += "; Secure" }
    if httpOnly { text += "; HttpOnly" }
    return text + "; SameSite=" + sameSite.rawValue
  }
}

/// The cookies of a request, by name.
///
/// Malformed pairs, and pairs whose value has too many combining marks in a row, are ignored. When
/// a name occurs twice, the first one wins: browsers send the cookie with the more specific path
/// first (RFC 6265bis section 5.8.3).
public struct Cookies: Sendable {
  private var pairs: [(name: UntrustedText, value: UntrustedText)] = []
  /// Whether a name is longer than ``UntrustedText/longestName`` bytes, in which case the server
  /// rejects the request.
  public private(set) var hasLongName = false

  /// Parses all `Cookie` header fields.
  public init(_ fields: Fields) {
    for line in fields.all(.cookie) { read(line) }
  }

  /// Returns the value of the first cookie with this name; nil when there's none.
  public subscript(name: String) -> UntrustedText? {
    let name = UntrustedText(name)
    for pair in pairs where pair.name == name { return pair.value }
    return nil
  }

  /// Returns the values of cookies whose names start with `prefix`, in order, one for each name.
  public func all(startingWith prefix: String) -> [UntrustedText] {
    var values: [UntrustedText] = []
    for (index, pair) in pairs.enumerated()
    where pair.name.utf8.starts(with: prefix.utf8)
      && !pairs[..<index].contains(where: { $0.name == pair.name })
    {
      values.append(pair.value)
    }
    return values
  }

  private mutating func read(_ line: String) {
    let span = line.utf8.span
    var start = 0
    while start < span.count {
      var end = start
      var equals: Int?
      while end < span.count, span[end] != UInt8(ascii: ";") {
        if equals == nil, span[end] == UInt8(ascii: "=") { equals = end }
        end += 1
      }
      if let equals {
        let place = Cookies.trim(span, start..<equals)
        let isLong = place.count > UntrustedText.longestName
        if isLong { hasLongName = true }
        let name = isLong ? "" : line.slice(place)
        if isToken(name), let value = Cookies.value(line, Cookies.trim(span, (equals + 1)..<end)) {
          pairs.append((UntrustedText(name), value))
        }
      }
      start = end + 1
    }
  }

  /// Returns a value without surrounding quotation marks and percent-decoded; nil when it has too
  /// many combining marks in a row.
  private static func value(_ line: String, _ range: Range<Int>) -> UntrustedText? {
    let span = line.utf8.span
    var range = range
    if range.count > 1, span[range.lowerBound] == UInt8(ascii: "\""),
      span[range.upperBound - 1] == UInt8(ascii: "\"")
    {
      range = (range.lowerBound + 1)..<(range.upperBound - 1)
    }
    for index in range where span[index] == UInt8(ascii: "%") {
      return PercentCoding.decode(span, range) ?? UntrustedText(checking: line.slice(range))
    }
    return UntrustedText(checking: line.slice(range))
  }

  private static func trim(_ span: borrowing Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, span[start] == 0x20 || span[start] == 0x09 { start += 1 }
    while start < end, span[end - 1] == 0x20 || span[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }
}
