import Foundation
public import Crypto

/// The server that takes mails, and how it is spoken to.
public struct SMTPServer: Sendable {
  /// True when TLS is spoken from the first byte (`smtps`), false for STARTTLS.
  public let isTLSFromStart: Bool
  /// Who signs in to it; nil for nobody.
  public let user: String?
  /// A name or an address.
  public let host: String
  /// The port.
  public let port: Int
  /// The password of `user`.
  public var password: Secret?
  /// The path of a file of certificates (PEM) that are believed in place of the system's.
  public var authority: String?

  /// Reads `smtp://user@host:port` or `smtps://…`.
  ///
  /// Without a port it is 587, or 465 for `smtps`. A `user` with other characters than letters,
  /// digits and `-._@+` is percent-coded.
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
      // It would stand in the list of processes for everybody of the machine.
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
    let isName = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard !host.isEmpty, isName else { throw .noServer }
    return (String(host), port)
  }

  /// True when nobody is between: only there may a mail go without TLS.
  public var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
  }

  /// Whether the connection must be sealed, by a certificate that is believed.
  var needsTLS: Bool { !isLoopback || authority != nil }

  /// The address without the user.
  public var url: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(isTLSFromStart ? "smtps" : "smtp")://\(name):\(port)"
  }
}

/// What is wrong with the address of a server.
public enum SMTPServerError: Error, Sendable, Equatable {
  /// It begins with neither `smtp://` nor `smtps://`.
  case noScheme
  /// A password stands in it.
  case hasPassword
  /// It names no server.
  case noServer
}
