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
  ///   - most: The number of connections at which no more are taken.
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
    while !isStopping.load(ordering: .acquiring) {
      if connections.count >= most {
        usleep(5000)
        continue
      }
      unsafe accept(deal)
    }
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
        let now = SystemClock.coarseMilliseconds()
        let peer = unsafe PeerAddress.text(address)
        guard
          let connection = connections.admit(
            socket: socket, peer: peer, deadline: now + headerDeadline)
        else {
          close(socket)
          return
        }
        if unsafe !deal(connection, address, size) { connections.remove(connection) }
      }
    }
  }

  /// Takes no more connections; who tries is told at once.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    guard !hasEnded.load(ordering: .acquiring) else { return }
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }
}
