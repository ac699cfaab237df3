import Glibc
import Host
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
  /// A pipe that wakes the thread when it's written to.
  private let wake: (reader: Int32, writer: Int32)
  private let isStopping = Atomic<Bool>(false)

  /// How long connections are accepted after a stop, in milliseconds, and the pause that ends it.
  private static let (late, pause) = (UInt64(100), CInt(20))
  /// How many connections are accepted after a stop, at most.
  private static let mostLate = 4096

  /// Creates an acceptor that isn't running yet, and that closes the listening socket at the end.
  ///
  /// Above `most` connections, some are closed to accept more. A new connection can take
  /// `headerDeadline` milliseconds to send its first header.
  ///
  /// - Throws: ``ServerError/cannotStart(reason:)`` if there are no free file descriptors.
  init(
    listener: Int32, connections: Connections, most: Int, headerDeadline: UInt64
  ) throws(ServerError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .system(.last) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    wake = (ends[0], ends[1])
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    self.listener = listener
    self.connections = connections
    self.most = most
    self.headerDeadline = headerDeadline
  }

  /// Accepts connections until the acceptor is stopped; `deal` passes a socket with its address to
  /// a thread, and returns whether the thread accepted it.
  func run(_ deal: (Connection, UnsafePointer<sockaddr>, socklen_t) -> Bool) {
    while !isStopping.load(ordering: .acquiring) {
      if unsafe !accept(deal) { _ = wait(for: [listener, wake.reader]) }
    }
    // The system would reset these, although their clients may have sent a request already, which a
    // proxy doesn't repeat. Handshakes may be underway.
    let end = SystemClock.coarseMilliseconds() + Self.late
    for _ in 0..<Self.mostLate {
      if unsafe accept(deal) { continue }
      guard SystemClock.coarseMilliseconds() < end, wait(for: [listener], atMost: Self.pause)
      else { break }
    }
    close(listener)
  }

  /// Waits until one of the files can be read; returns false after the time.
  private func wait(for files: [Int32], atMost milliseconds: CInt = -1) -> Bool {
    var files = files.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    return unsafe poll(&files, nfds_t(files.count), milliseconds) > 0
  }

  /// Accepts the next connection; returns whether there was one, or there may be one.
  private func accept(
    _ deal: (Connection, UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let socket = unsafe Glibc.accept(listener, address, &size)
        guard socket >= 0 else {
          switch errno {
          case EAGAIN: return false
          case EINTR, ECONNABORTED: return true
          default:
            // Out of file descriptors or memory: a connection has to close first.
            usleep(5000)
            return !isStopping.load(ordering: .acquiring)
          }
        }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        guard let connection = unsafe admit(socket, NetworkAddress(address)) else {
          close(socket)
          return true
        }
        if unsafe !deal(connection, address, size) { connections.remove(connection) }
        return true
      }
    }
  }

  /// Admits a client, closing a connection without a complete request if necessary.
  ///
  /// While every connection is served, the client waits, and those after it wait to be accepted.
  private func admit(_ socket: Int32, _ address: NetworkAddress?) -> Connection? {
    var pause: UInt32 = 0
    while true {
      let now = SystemClock.coarseMilliseconds()
      switch connections.admit(
        socket: socket, address: address, atMost: most, now: now, deadline: now + headerDeadline)
      {
      case .admitted(let connection): return connection
      case .refused: return nil
      case .full:
        guard !isStopping.load(ordering: .acquiring) else { return nil }
        let count = connections.count
        guard connections.evictIncomplete(at: now) else {
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
  }

  /// Stops accepting connections, after those that are established already; new clients are
  /// refused.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    _ = unsafe write(wake.writer, [1], 1)
  }

  deinit {
    close(wake.reader)
    close(wake.writer)
  }
}
