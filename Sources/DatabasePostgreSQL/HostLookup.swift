import Glibc

/// Finds the IP addresses of hosts.
enum HostLookup {
  /// A host without an address.
  struct NotFound: Error {
    let reason: String
  }

  /// Returns the IP addresses of a host, in the order in which they should be tried.
  ///
  /// - Parameter host: A name, an IP address, or the folder of a Unix socket.
  /// - Returns: At least one; nil for a Unix socket.
  /// - Throws: ``NotFound``.
  static func ips(of host: String) throws(NotFound) -> [String?] {
    guard !host.hasPrefix("/") else { return [nil] }
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, &hints, &found)
    guard code == 0 else {
      let reason = unsafe String(cString: gai_strerror(code))
      throw NotFound(reason: "could not translate host name \"\(host)\" to address: \(reason)")
    }
    defer { unsafe freeaddrinfo(found) }
    var ips: [String?] = []
    var next = unsafe found
    while let info = unsafe next {
      if let ip = unsafe text(of: info.pointee), !ips.contains(ip) { ips.append(ip) }
      unsafe next = info.pointee.ai_next
    }
    guard !ips.isEmpty else { throw NotFound(reason: "host \"\(host)\" has no address") }
    return ips
  }

  private static func text(of info: addrinfo) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = unsafe getnameinfo(
      info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
