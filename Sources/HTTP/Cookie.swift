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
/// Pairs that are not well formed are passed over. When a name occurs twice the first counts: it
/// is the one that browsers hold for the more exact path (RFC 6265bis section 5.8.3).
public struct Cookies: Sendable {
  private var pairs: [(name: String, value: String)] = []

  /// Reads the values of all `Cookie` fields.
  public init(_ fields: Fields) {
    for line in fields.all(.cookie) { read(line) }
  }

  /// The value of a name.
  public subscript(name: String) -> String? {
    for pair in pairs where pair.name == name { return pair.value }
    return nil
  }

  private mutating func read(_ line: String) {
    for part in line.utf8.split(separator: UInt8(ascii: ";")) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = Cookies.trim(part[..<equals])
      var value = Cookies.trim(part[part.index(after: equals)...])
      guard isToken(name) else { continue }
      if value.utf8.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") {
        value = String(value.dropFirst().dropLast())
      }
      if value.utf8.contains(UInt8(ascii: "%")) {
        let span = value.utf8.span
        value = PercentCoding.decode(span, 0..<span.count) ?? value
      }
      pairs.append((name, value))
    }
  }

  private static func trim(_ part: Substring.UTF8View) -> String {
    var part = part
    while let first = part.first, first == 0x20 || first == 0x09 { part.removeFirst() }
    while let last = part.last, last == 0x20 || last == 0x09 { part.removeLast() }
    return String(Substring(part))
  }
}
