import Foundation
import Network
public import Crypto

/// An SMTP server, and how to connect to it.
public struct SMTPServer: Sendable {
  /// Whether the connection starts with TLS (`smtps`) instead of STARTTLS.
  public let isTLSFromStart: Bool
  /// The user to authenticate as; nil for none.
  public let user: String?
  /// The name or address of the server.
  public let host: String
  /// The port.
  public let port: Int
  /// The password of `user`.
  public var password: Secret?
  /// The path of a PEM file with CA certificates to trust instead of the system's.
  public var authority: String?

  /// Parses `smtp://user@host:port` or `smtps://…`.
  ///
  /// The default port is 587, or 465 for `smtps`. Characters in `user` other than letters, digits,
  /// and `-._@+` must be percent-encoded.
  ///
  /// - Throws: ``SMTPServerError``.
  public init(_ text: String) throws(SMTPServerError) {
    let schemes = ["smtp://": false, "smtps://": true]
    guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0.key) }) else {
      throw .noScheme
    }
    isTLSFromStart = scheme.value
    var rest = text.dropFirst(scheme.key.count)
    if rest.last == "/" { rest.removeLast() }
    guard !rest.contains(where: { "/?#".contains($0) }) else { throw .noServer }
    if let at = rest.lastIndex(of: "@") {
      let name = rest[..<at]
      // Other users of the machine could read it in the list of processes.
      guard !name.contains(":") else { throw .hasPassword }
      guard let decoded = String(name).removingPercentEncoding, !decoded.isEmpty,
        !decoded.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
      else { throw .noServer }
      user = decoded
      rest = rest[rest.index(after: at)...]
    } else {
      user = nil
    }
    (host, port) = try Self.place(rest, standard: scheme.value ? 465 : 587)
  }

  private static func place(
    _ text: Substring, standard: Int
  ) throws(SMTPServerError) -> (String, Int) {
    var host = text
    var port = standard
    let colon = text.lastIndex(of: ":")
    if let colon, !text[colon...].contains("]") {
      guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number)
      else { throw .noServer }
      (host, port) = (text[..<colon], number)
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let address = host.dropFirst().dropLast()
      guard !address.isEmpty, address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
        throw .noServer
      }
      return (String(address), port)
    }
    guard HostName.isValid(host) else { throw .noServer }
    return (String(host), port)
  }

  /// Whether the server is on this machine; only then can emails be sent without TLS.
  public var isLoopback: Bool { HostName.isLoopback(host) }

  /// Whether the connection must be encrypted, with a trusted certificate.
  var needsTLS: Bool { !isLoopback || authority != nil }

  /// The URL without the user.
  public var url: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(isTLSFromStart ? "smtps" : "smtp")://\(name):\(port)"
  }
}

/// The reason that a server URL is invalid.
public enum SMTPServerError: Error, Sendable, Equatable {
  /// The URL doesn't begin with `smtp://` or `smtps://`.
  case noScheme
  /// The URL contains a password.
  case hasPassword
  /// The URL doesn't name a server.
  case noServer
}
