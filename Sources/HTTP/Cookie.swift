/// A cookie to be set (RFC 6265bis section 4.1), always for the path `/` and this host alone.
public struct Cookie: Sendable, Equatable, CustomStringConvertible {
  /// Which requests from other sites carry the cookie.
  public enum SameSite: String, Sendable {
    /// None but a plain link to a page.
    case lax = "Lax"
    /// None.
    case strict = "Strict"
  }

  /// The name, a token.
  public let name: String
  /// The value; what may not stand in a cookie is percent-coded, and decoded by `Cookies`.
  public var value: String
  /// Whether scripts cannot read it.
  public var httpOnly: Bool
  /// Whether it is sent over TLS only; names that start with `__Host-` ask for it.
  public var secure: Bool
  /// Which requests from other sites carry it.
  public var sameSite: SameSite
  /// How many seconds it lives: nil until the browser closes, 0 removes it.
  public var maxAge: Int?

  /// Makes a cookie; a name that is no token is a mistake in the program and traps.
  public init(
    name: String, value: String, httpOnly: Bool = true, secure: Bool,
    sameSite: SameSite = .lax, maxAge: Int? = nil
  ) {
    precondition(isToken(name), "a cookie's name is a token: \(name)")
    self.name = name
    self.value = value
    self.httpOnly = httpOnly
    self.secure = secure
    self.sameSite = sameSite
    self.maxAge = maxAge
  }

  /// The value for `Set-Cookie`.
  public var description: String {
    let value = PercentCoding.encoded(value, keeping: "!#$&'()*+/:<=>?@[]^`{|}")
    var text = "\(name)=\(value); Path=/"
    if let maxAge { text += "; Max-Age=\(maxAge)" }
    if secure { text += "; Secure" }
    if httpOnly { text += "; HttpOnly" }
    return text + "; SameSite=" + sameSite.rawValue
  }
}

/// The cookies of a request, by name.
///
/// Pairs that are not well formed, or whose value has too many combining marks in a row, are passed
/// over. When a name occurs twice the first counts: it is the one that browsers hold for the more
/// exact path (RFC 6265bis section 5.8.3).
public struct Cookies: Sendable {
  private var pairs: [(name: UntrustedText, value: UntrustedText)] = []
  /// Whether a name is longer than ``UntrustedText/longestName`` bytes: the server rejects such a
  /// request.
  public private(set) var hasLongName = false

  /// Reads the values of all `Cookie` fields.
  public init(_ fields: Fields) {
    for line in fields.all(.cookie) { read(line) }
  }

  /// The value of a name.
  public subscript(name: String) -> UntrustedText? {
    let name = UntrustedText(name)
    for pair in pairs where pair.name == name { return pair.value }
    return nil
  }

  /// The values of the names that start with these bytes, the first of each name, in their order.
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

  /// A value without the quotation marks around it, and decoded where it is coded; nil when too many
  /// of its characters are combining marks.
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
