import Network

/// A request to another server.
public struct ClientRequest: Sendable {
  /// A method.
  public enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
  }

  /// A header field.
  public struct Field: Sendable, Equatable {
    /// The name, in ASCII letters, digits, and hyphens.
    public let name: String
    /// The value, in printable ASCII.
    public let value: String

    /// Creates a field; nil when the value could end it (RFC 9110 section 5.5).
    public init?(_ name: String, _ value: String) {
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
      guard !name.isEmpty, isName, !value.isEmpty,
        value.utf8.allSatisfy({ (32...126).contains($0) })
      else { return nil }
      (self.name, self.value) = (name, value)
    }
  }

  /// The method.
  public let method: Method
  /// The URL.
  public let url: ClientURL
  /// The header fields, in order.
  public let fields: [Field]
  /// The body; nil for none.
  public let body: [UInt8]?
  /// Whether the status is the whole answer: the body of the response is cut off after 4 KiB, and
  /// one that's incomplete is no error.
  public var isAnsweredByStatus = false
  /// The way to the server.
  public var route = HTTPClient.Route.direct

  /// Creates a request.
  public init(_ method: Method, _ url: ClientURL, fields: [Field] = [], body: [UInt8]? = nil) {
    (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
  }
}

/// The response to a request.
public struct ClientResponse: Sendable, Equatable {
  /// The status code, 200–599.
  public let status: Int
  /// The header fields by their names in lowercase; the last one of several with the same name.
  public let fields: [String: String]
  /// The body.
  public let body: [UInt8]
}

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
