/// The public address of the console, as the operator configures it.
///
/// Links, the `Origin` check, and cookie attributes depend only on it, never on a request's `Host`,
/// which clients can forge.
public struct PublicURL: Sendable, Equatable, CustomStringConvertible {
  /// The scheme, host, and port as in `Origin`, such as `https://mfa.example.com`.
  public let origin: String
  public let isSecure: Bool

  /// Reads an address such as `https://mfa.example.com` or `http://127.0.0.1:8080`.
  ///
  /// Returns nil if the scheme isn't http or https, if there's no host, or if there's a path, a
  /// query, a user name, or a character that's invalid in a host.
  public init?(_ text: String) {
    let lower = text.lowercased()
    let scheme: String
    if lower.hasPrefix("https://") {
      scheme = "https"
    } else if lower.hasPrefix("http://") {
      scheme = "http"
    } else {
      return nil
    }
    var authority = lower.dropFirst(scheme.count + 3)
    if authority.last == "/" { authority.removeLast() }
    let (host, port) = PublicURL.parts(authority)
    guard PublicURL.isHost(host) else { return nil }
    if let port {
      guard let number = Int(port), (1...65535).contains(number), String(number) == port else {
        return nil
      }
    }
    isSecure = scheme == "https"
    // Browsers omit the scheme's default port from an origin.
    let ownPort = PublicURL.defaultPort(isSecure: isSecure)
    origin = "\(scheme)://\(host)" + (port.map { $0 == ownPort ? "" : ":\($0)" } ?? "")
  }

  /// The host, in brackets if it's an IPv6 address.
  var host: String { String(PublicURL.parts(authority[...]).host) }

  /// The port, even if the origin omits it.
  var port: String {
    PublicURL.parts(authority[...]).port.map(String.init)
      ?? PublicURL.defaultPort(isSecure: isSecure)
  }

  /// The origin without its scheme.
  var authority: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }

  private static func parts(_ authority: Substring) -> (host: Substring, port: Substring?) {
    let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
    guard let colon = authority[bracket...].lastIndex(of: ":") else { return (authority, nil) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  private static func defaultPort(isSecure: Bool) -> String { isSecure ? "443" : "80" }

  public var description: String { origin }

  private static func isHost(_ host: Substring) -> Bool {
    guard !host.isEmpty, host.utf8.count <= 255 else { return false }
    if host.hasPrefix("[") {
      return host.hasSuffix("]") && host.dropFirst().dropLast().allSatisfy(isHexOrColon)
        && host.count > 3
    }
    return host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  private static func isHexOrColon(_ character: Character) -> Bool {
    character.isASCII && (character.isHexDigit || character == ":" || character == ".")
  }
}
