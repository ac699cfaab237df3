import HTTP
import Text

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
