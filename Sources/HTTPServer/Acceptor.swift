import CMicroHTTPD
import Glibc
import Network
import Synchronization

/// The thread that accepts connections and distributes them to the engine's threads.
///
/// If each thread accepted for itself, it would take all pending connections when it wakes, and one
/// thread would end up serving most clients that connect together.
final class Acceptor: Sendable {
  private let listener: Int32
  private let connections: Connections
  private let most: Int
  private let headerDeadline: UInt64
  private let isStopping = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  /// Creates an acceptor that isn't running yet.
  ///
  /// - Parameters:
  ///   - listener: The listening socket, which the acceptor closes at the end.
  ///   - connections: The list of connections.
  ///   - most: The number of connections above which idle ones are closed to accept more.
  ///   - headerDeadline: How long a new connection can take to send its first header, in
  ///     milliseconds.
  init(listener: Int32, connections: Connections, most: Int, headerDeadline: UInt64) {
    self.listener = listener
    self.connections = connections
    self.most = most
    self.headerDeadline = headerDeadline
  }

  /// Accepts connections until the acceptor is stopped.
  ///
  /// - Parameter deal: Passes a socket with its address to a thread, and returns whether the thread
  ///   accepted it.
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
          // Out of file descriptors or memory: a connection has to close first.
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

  /// Admits a client, closing the connection that has been idle the longest if necessary.
  ///
  /// While no connection is idle, the client waits, and those after it wait to be accepted.
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

  /// Stops accepting connections; new clients are refused immediately.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    guard !hasEnded.load(ordering: .acquiring) else { return }
    _ = shutdown(listener, Int32(SHUT_RDWR))
  }
}
