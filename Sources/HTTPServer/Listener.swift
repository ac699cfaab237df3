import Glibc
import Host

struct Listener {
  let socket: Int32
  let port: Int

  /// Binds the first of the host's addresses that can be bound.
  init(host: String, port: Int) throws(ServerError) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    guard (0...65535).contains(port) else { throw .unknownHost(host) }
    let failure = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard failure == 0 else { throw Listener.error(resolving: host, port, failure, .last) }
    defer { unsafe freeaddrinfo(found) }
    var (reason, isTemporary) = ("the host has no address", false)
    var next = unsafe found
    while let candidate = unsafe next?.pointee {
      unsafe next = candidate.ai_next
      guard let socket = unsafe Listener.listen(candidate) else {
        let error = SystemError.last
        isTemporary = error.isTemporary || [EADDRINUSE, EADDRNOTAVAIL].contains(error.number)
        reason = error.description
        continue
      }
      self.socket = socket
      self.port = Listener.port(of: socket)
      return
    }
    throw .cannotListen(host: host, port: port, reason: reason, isTemporary: isTemporary)
  }

  /// Returns the error for a result of `getaddrinfo(3)`.
  private static func error(
    resolving host: String, _ port: Int, _ failure: Int32, _ system: SystemError
  ) -> ServerError {
    switch failure {
    case EAI_AGAIN, EAI_MEMORY:
      let reason = unsafe String(cString: gai_strerror(failure))
      return .cannotListen(host: host, port: port, reason: reason, isTemporary: true)
    case EAI_SYSTEM:
      return .cannotListen(
        host: host, port: port, reason: system.description, isTemporary: system.isTemporary)
    default: return .unknownHost(host)
    }
  }

  private static func listen(_ address: addrinfo) -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let listener = unsafe Glibc.socket(address.ai_family, kind, address.ai_protocol)
    guard listener >= 0 else { return nil }
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    guard unsafe bind(listener, address.ai_addr, address.ai_addrlen) == 0,
      Glibc.listen(listener, 4096) == 0
    else {
      let reason = errno
      close(listener)
      errno = reason
      return nil
    }
    return listener
  }

  private static func port(of socket: Int32) -> Int {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var digits = [CChar](repeating: 0, count: 6)
    unsafe withUnsafeMutablePointer(to: &address) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = unsafe getsockname(socket, address, &size)
        _ = unsafe getnameinfo(
          address, size, nil, 0, &digits, socklen_t(digits.count), NI_NUMERICSERV)
      }
    }
    return Int(String(decoding: digits.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)) ?? 0
  }
}

/// Raises the open file limit for a number of connections, as far as the system allows.
///
/// - Returns: The number of connections that the limit allows next to other open files.
func raiseFileLimit(toConnections wanted: Int) -> Int {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
    return wanted
  }
  let needed = rlim_t(wanted + mostSpareFiles)
  if limit.rlim_cur < needed {
    limit.rlim_cur = min(needed, limit.rlim_max)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
  return connectionsThatFit(wanted: wanted, files: Int(min(limit.rlim_cur, 1 << 30)))
}

/// The maximum number of file descriptors reserved for other uses.
private let mostSpareFiles = 256

/// Returns how many connections an open file limit allows: a quarter of it, at most 256, is
/// reserved for the database and other files.
func connectionsThatFit(wanted: Int, files: Int) -> Int {
  min(wanted, max(files - min(files / 4, mostSpareFiles), 1))
}
