/// The site that passkeys are for (Web Authentication Level 2, section 4, "Relying Party").
public struct RelyingParty: Sendable, Equatable {
  /// The host name that passkeys are bound to.
  public let id: String
  /// The origin of the pages that may use them, such as `https://mfa.example.com`.
  public let origin: String

  /// Creates the relying party of an origin; nil if browsers offer no passkeys there: the host is
  /// an IP address, or the connection isn't secure.
  ///
  /// - Parameters:
  ///   - origin: The origin in lowercase, such as `https://mfa.example.com`.
  ///   - host: Its host.
  ///   - isSecure: Whether the scheme is https.
  public init?(origin: String, host: String, isSecure: Bool) {
    guard Self.isName(host), isSecure || host == "localhost" || host.hasSuffix(".localhost") else {
      return nil
    }
    (self.id, self.origin) = (host, origin)
  }

  /// Whether a host is a name: the last label of an IPv4 address begins with a digit (WHATWG URL
  /// Standard, "ends in a number"), and an IPv6 address is in brackets.
  private static func isName(_ host: String) -> Bool {
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last(where: { !$0.isEmpty }), let first = last.utf8.first else {
      return false
    }
    return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      && !host.contains("[") && !host.contains(":") && !host.hasSuffix(".")
  }
}
