import HTTP
import Text

/// Cross-origin responses, because applications call from their own pages.
///
/// No request is authenticated by cookies, so every origin that may call may also read every
/// response, and `Access-Control-Allow-Credentials` is never sent. `EmulatorOrigins` decides which
/// origins may call in the emulator profile.
enum CORS {
  private static let allowPrivateNetwork: FieldName = "Access-Control-Allow-Private-Network"
  private static let requestPrivateNetwork: FieldName = "Access-Control-Request-Private-Network"

  /// Allows the calling page to read the response, including errors.
  static func open(_ response: inout Response, to request: Request) {
    response.fields.add(.vary, "Origin")
    if let origin = request.fields[.origin] {
      response.fields[.accessControlAllowOrigin] = origin
    }
  }

  /// Responds to a preflight request; nil if the request isn't one.
  static func preflight(_ request: Request) -> Response? {
    guard request.method == .options else { return nil }
    var response = Response.noContent
    response.fields[.accessControlAllowMethods] = "GET,POST,PUT,PATCH,DELETE,HEAD"
    if let names = request.fields[.accessControlRequestHeaders] {
      response.fields[.accessControlAllowHeaders] = names
      response.fields.add(.vary, "Access-Control-Request-Headers")
    }
    if request.fields[requestPrivateNetwork]?.isSameBytes(as: "true") ?? false {
      response.fields[allowPrivateNetwork] = "true"
    }
    response.fields[.accessControlMaxAge] = "3600"
    open(&response, to: request)
    return response
  }
}

/// The web pages that can call the emulator, by origin.
///
/// The emulator profile requires no real credentials, so any page that a developer visits could
/// delete its accounts. Pages served from this machine, on any port, and the emulator's own pages
/// can call it. Other origins, including opaque ones (`null`), have to be listed. A request without
/// an `Origin` field isn't from a page.
public struct EmulatorOrigins: Sendable {
  private let named: Set<[UInt8]>

  /// Allows origins, for each of which `isOrigin` returns true, in addition to those of this
  /// machine; case doesn't matter.
  public init(_ named: [String] = []) {
    self.named = Set(named.map(EmulatorOrigins.folded))
  }

  /// Returns whether a text is an origin: `scheme://host` with or without a port, or `null` (RFC
  /// 6454).
  public static func isOrigin(_ text: String) -> Bool {
    if text == "null" { return true }
    guard text.utf8.count <= 512, let host = host(of: text) else { return false }
    return !host.utf8.isEmpty
      && host.utf8.allSatisfy { byte in
        byte > 0x20 && byte < 0x7F && !"/?#@\\\"*,".utf8.contains(byte)
      }
  }

  /// Returns whether the page that sends a request is allowed to.
  ///
  /// All `Origin` fields are checked; `own` is the server's own URL, whose pages are allowed.
  func allow(_ request: Request, own: String) -> Bool {
    let origins = request.fields.all(.origin)
    guard let origin = origins.first else { return true }
    guard origins.count == 1, origin.utf8.count <= 512 else { return false }
    let bytes = EmulatorOrigins.folded(origin)
    if bytes == EmulatorOrigins.folded(own) || named.contains(bytes) { return true }
    return EmulatorOrigins.host(of: origin).map { LoopbackHost.isLoopback(String($0)) } ?? false
  }

  private static func host(of origin: String) -> Substring? {
    guard let end = origin.firstRange(of: "://") else { return nil }
    let scheme = origin[..<end.lowerBound].utf8
    let isScheme = scheme.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
    return !scheme.isEmpty && isScheme ? origin[end.upperBound...] : nil
  }

  private static func folded(_ text: String) -> [UInt8] {
    text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

/// Checks whether the Host field of a request names this machine.
///
/// The emulator profile requires no real credentials. A page on an attacker's domain that resolves
/// to 127.0.0.1 has the same origin as the server, but has to send its own name in the Host field.
enum LoopbackHost {
  static func isNamed(by request: Request) -> Bool {
    guard let host = request.fields[.host] else { return false }
    return isLoopback(host)
  }

  /// Returns whether a host, with or without a port, is this machine.
  static func isLoopback(_ host: String) -> Bool {
    let name = withoutPort(host).lowercased()
    if name.isSameBytes(as: "localhost") || name.hasSameBytes(atEnd: ".localhost")
      || name.isSameBytes(as: "[::1]")
    {
      return true
    }
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0].elementsEqual("127".utf8)
      && parts.allSatisfy { UInt8(String(decoding: $0, as: UTF8.self)) != nil }
  }

  private static func withoutPort(_ host: String) -> Substring {
    guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]"),
      host[host.index(after: colon)...].allSatisfy(\.isNumber)
    else { return host[...] }
    return host[..<colon]
  }
}
