import HTTP

/// Whether a request names this machine in its Host field.
///
/// The emulator profile asks for no real credential. A page on a domain of an attacker's own that
/// resolves to 127.0.0.1 is of the same origin as the server, but must send its own name as host.
enum LoopbackHost {
  static func isNamed(by request: Request) -> Bool {
    guard let host = request.fields[.host] else { return false }
    return isLoopback(host)
  }

  /// Whether a host, with a port or without, is this machine.
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
