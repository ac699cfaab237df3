import CMicroHTTPD
import Glibc
import Synchronization

/// The thread that takes connections from the listening socket and deals them to the engine's.
///
/// Threads that accept for themselves take whatever has come when they wake, all of it as a rule;
/// of clients that come together one thread then serves most.
final class Acceptor: Sendable {
  private let listener: Int32
  private let connections: Connections
  private let most: Int
  private let headerDeadline: UInt64
  private let isStopping = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  /// Makes an acceptor that does not run yet.
  ///
  /// - Parameters:
  ///   - listener: The listening socket, which the acceptor closes in the end.
  ///   - connections: Where clients are admitted.
  ///   - most: The number of connections at which others have to go before more are taken.
  ///   - headerDeadline: The milliseconds that a new connection has for its first header.
  init(listener: Int32, connections: Connections, most: Int, headerDeadline: UInt64) {
    self.listener = listener
    self.connections = connections
    self.most = most
    self.headerDeadline = headerDeadline
  }

  /// Accepts until it is stopped.
  ///
  /// - Parameter deal: Hands a socket with its address to a thread, and tells whether it was taken.
  func run(_ deal: (Connection, UnsafePointer<sockaddr>, socklen_t) -> Bool) {
    while !isStopping.load(ordering: .acquiring) { unsafe accept(deal) }
    close(listener)
    hasEnded.store(true, ordering: .releasing)
  }

  private func accept(_ deal: (Connection, UnsafePointer<sockaddr>, socklen_t) -> Bool) {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let socket = unsafe Glibc.accept(listener, address, &size)
        guard socket >= 0 else {
          // Out of files or memory: what is open has to end first.
          if errno != EINTR, errno != ECONNABORTED { usleep(5000) }
          return
        }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        guard let connection = unsafe admit(socket, NetworkAddress(address)) else {
          close(socket)
          return
        }
        if unsafe !deal(connection, address, size) { connections.remove(connection) }
      }
    }
  }

  /// Admits a client, if need be in the place of the one that has waited longest for a request.
  ///
  /// While none waits, the client has to; those behind it wait to be accepted.
  private func admit(_ socket: Int32, _ address: NetworkAddress?) -> Connection? {
    var pause: UInt32 = 0
    while !isStopping.load(ordering: .acquiring) {
      let now = SystemClock.coarseMilliseconds()
      switch connections.admit(
        socket: socket, address: address, atMost: most, now: now, deadline: now + headerDeadline)
      {
      case .admitted(let connection): return connection
      case .refused: return nil
      case .full:
        let count = connections.count
        guard connections.evictLongestIdle() else {
          usleep(5000)
          continue
        }
        pause = 50
        for _ in 0..<200 where connections.count >= count {
          usleep(pause)
          pause = min(pause * 2, 1000)
        }
      }
    }
    return nil
  }

  /// Takes no more connections; who tries is told at once.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    guard !hasEnded.load(ordering: .acquiring) else { return }
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }
}
