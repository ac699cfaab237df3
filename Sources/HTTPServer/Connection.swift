import Glibc
import Network
import Synchronization

/// A client's connection, from accept to close.
final class Connection: Sendable {
  /// The state of a connection, for graceful shutdown, and for what is closed to make room.
  enum Phase {
    static let waiting: UInt8 = 0
    /// A request line was read, but not the whole request.
    static let reading: UInt8 = 1
    static let serving: UInt8 = 2
  }

  static let never = UInt64.max

  let socket: Int32
  /// The address of the client; nil when it isn't an IP address.
  let address: NetworkAddress?
  /// The address as text.
  let peer: String
  /// Whether the connection is limited per network.
  let isCounted: Bool
  /// The generation of threads that serves it; a new certificate starts a new generation.
  let generation: Int
  /// The index of the thread that serves it.
  let thread: Int
  /// When the socket is shut down, in coarse milliseconds.
  let deadline: Atomic<UInt64>
  let phase = Atomic<UInt8>(Phase.waiting)
  /// When the connection was accepted, its last request was answered, or the header of its next one
  /// was complete, in coarse milliseconds.
  let idleSince: Atomic<UInt64>
  let isShut = Atomic<Bool>(false)
  /// Whether no request line was read yet.
  let isNew = Atomic<Bool>(true)
  let suspended = Mutex<Exchange?>(nil)

  init(
    socket: Int32, address: NetworkAddress?, isCounted: Bool, generation: Int, thread: Int,
    now: UInt64, deadline: UInt64
  ) {
    self.socket = socket
    self.address = address
    peer = address?.description ?? ""
    self.isCounted = isCounted
    self.generation = generation
    self.thread = thread
    self.deadline = Atomic(deadline)
    idleSince = Atomic(now)
  }

  /// Marks the request line of the current exchange as read.
  func begin() {
    isNew.store(false, ordering: .relaxed)
    phase.store(Phase.reading, ordering: .releasing)
  }

  /// Marks the request of the current exchange as complete.
  func serve() { phase.store(Phase.serving, ordering: .releasing) }

  /// Marks the header of the current exchange as complete, and its body as yet to come.
  func receive(since now: UInt64) { idleSince.store(now, ordering: .relaxed) }

  /// Marks the current exchange as complete and the connection as idle.
  func wait(since now: UInt64, until deadline: UInt64) {
    expire(at: deadline)
    idleSince.store(now, ordering: .relaxed)
    phase.store(Phase.waiting, ordering: .releasing)
  }

  /// Sets when the socket is shut down.
  func expire(at milliseconds: UInt64) {
    deadline.store(milliseconds, ordering: .relaxed)
  }

  /// Shuts down both directions, so that the engine closes the connection.
  func shut() {
    isShut.store(true, ordering: .relaxed)
    _ = shutdown(socket, Int32(SHUT_RDWR))
  }

  /// Reads input that has arrived before the connection closes: closing a socket with unread bytes
  /// resets the connection, and the client might not receive the response.
  ///
  /// - Returns: Whether more may arrive.
  @discardableResult func drain() -> Bool {
    unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
      for _ in 0..<64 {
        let count = unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count <= 0 else { continue }
        return count < 0 && (errno == EAGAIN || errno == EINTR)
      }
      return true
    }
  }
}
