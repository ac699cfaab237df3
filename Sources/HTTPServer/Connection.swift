import CMicroHTTPD
import Glibc
import Synchronization

/// One socket of a client, from its acceptance to its end.
final class Connection: Sendable {
  /// What a connection is doing, as far as stopping is concerned.
  enum Phase {
    static let waiting: UInt8 = 0
    static let serving: UInt8 = 1
  }

  static let never = UInt64.max

  let socket: Int32
  let peer: String
  /// Which of the threads serves it.
  let thread: Int
  /// When the socket is shut, in coarse milliseconds.
  let deadline: Atomic<UInt64>
  let phase = Atomic<UInt8>(Phase.waiting)
  /// The number of the last request; written on the engine's thread only.
  let requests = Atomic<UInt64>(0)
  /// The exchange whose handler is suspended.
  let suspended = Mutex<Exchange?>(nil)

  init(socket: Int32, peer: String, thread: Int, deadline: UInt64) {
    self.socket = socket
    self.peer = peer
    self.thread = thread
    self.deadline = Atomic(deadline)
  }

  /// The number of the next request, which differs from that of any other in this run.
  ///
  /// - Parameter block: Gives a number that no other connection has; each covers 2^24 requests.
  /// - Returns: The number.
  func nextRequest(_ block: () -> UInt64) -> UInt64 {
    var number = requests.load(ordering: .relaxed) &+ 1
    if number & 0xFF_FFFF < 2 { number = block() << 24 | 2 }
    requests.store(number, ordering: .relaxed)
    return number
  }

  /// Sets the moment when the socket is shut.
  func expire(at milliseconds: UInt64) {
    deadline.store(milliseconds, ordering: .relaxed)
  }

  /// Cuts both directions; the engine sees it and closes.
  func shut() {
    _ = shutdown(socket, Int32(SHUT_RDWR))
  }
}
