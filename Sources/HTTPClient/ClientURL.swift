import Network

/// A URL that requests can be sent to: `https`, or `http` to this machine.
public struct ClientURL: Sendable, Equatable {
  /// The URL.
  public let text: String
  /// The name or address of the server, without brackets.
  public let host: String
  /// Whether the connection is encrypted.
  public let isSecure: Bool

  /// The maximum length of a URL in bytes.
  public static let longest = 2_048

  /// Parses an absolute URL without user information and fragment (RFC 3986).
  ///
  /// - Throws: ``ClientURLError``.
  public init(_ text: String) throws(ClientURLError) {
    guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw .invalid
    }
    let lowercased = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: { lowercased.hasPrefix($0) }) else {
      throw .noScheme
    }
    let rest = text.dropFirst(scheme.utf8.count)
    let authority = rest.prefix { !"/?#\\".contains($0) }
    guard !authority.contains("@"), !rest.contains("#"), !rest.contains("\\") else {
      throw .invalid
    }
    host = try Self.host(of: authority)
    isSecure = scheme == "https://"
    guard isSecure || HostName.isLoopback(host) else { throw .notEncrypted }
    self.text = text
  }

  private static func host(of authority: Substring) throws(ClientURLError) -> String {
    var host = authority
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { throw .invalid }
      try checkPort(host[host.index(after: end)...])
      host = host[host.index(after: host.startIndex)..<end]
      guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else {
        throw .invalid
      }
      return String(host)
    }
    if let colon = host.firstIndex(of: ":") {
      try checkPort(host[colon...])
      host = host[..<colon]
    }
    guard host.utf8.count <= 253, HostName.isValid(host) else { throw .invalid }
    return String(host)
  }

  /// Checks what follows a host: nothing, or a colon and a port.
  private static func checkPort(_ text: Substring) throws(ClientURLError) {
    guard !text.isEmpty else { return }
    let digits = text.dropFirst()
    guard text.hasPrefix(":"), (1...5).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(digits), (1...65_535).contains(number)
    else { throw .invalid }
  }
}

/// The reason that requests can't be sent to a URL.
public enum ClientURLError: Error, Sendable, Equatable {
  /// It doesn't begin with `https://`, or `http://` for this machine.
  case noScheme
  /// It isn't a valid URL, or has user information or a fragment.
  case invalid
  /// It's `http` to another machine.
  case notEncrypted
}
