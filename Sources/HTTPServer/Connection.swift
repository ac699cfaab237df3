import CMicroHTTPD
import Glibc
import HTTP
import Network
import Synchronization

/// A client's connection, from accept to close.
final class Connection: Sendable {
  /// The state of a connection, for graceful shutdown, and for what is closed to make room.
  enum Phase {
    static let waiting: UInt8 = 0
    /// A request line was read, but not the whole header.
    static let reading: UInt8 = 1
    static let serving: UInt8 = 2
  }

  /// Creates the response to a request that doesn't reach the handler.
  typealias Failure = @Sendable (Status, Target?, RequestID) -> Response

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
  /// When the connection was accepted or its last request was answered, in coarse milliseconds.
  let idleSince: Atomic<UInt64>
  /// Whether both directions were shut down.
  let isShut = Atomic<Bool>(false)
  /// Whether the request has a transfer coding; used only on the engine's thread.
  let isTransferCoded = Atomic<Bool>(false)
  /// The number of the last request; written only on the engine's thread.
  let requests = Atomic<UInt64>(0)
  /// The exchange whose handler is suspended.
  let suspended = Mutex<Exchange?>(nil)
  /// The address of the current exchange, 0 for none; used only on the engine's thread.
  private let exchange = Atomic<UInt>(0)
  private let failure: Failure

  init(
    socket: Int32, address: NetworkAddress?, isCounted: Bool, generation: Int, thread: Int,
    now: UInt64, deadline: UInt64, failure: @escaping Failure
  ) {
    self.socket = socket
    self.address = address
    peer = address?.description ?? ""
    self.isCounted = isCounted
    self.generation = generation
    self.thread = thread
    self.deadline = Atomic(deadline)
    idleSince = Atomic(now)
    self.failure = failure
  }

  /// Stores the current exchange, which the engine retains until it completes.
  func begin(_ exchange: UnsafeMutableRawPointer) {
    phase.store(Phase.reading, ordering: .releasing)
    self.exchange.store(UInt(bitPattern: exchange), ordering: .relaxed)
  }

  /// Marks the header of the current exchange as complete.
  func serve() { phase.store(Phase.serving, ordering: .releasing) }

  /// Marks the current exchange as complete and the connection as idle.
  func wait(since now: UInt64, until deadline: UInt64) {
    exchange.store(0, ordering: .relaxed)
    expire(at: deadline)
    idleSince.store(now, ordering: .relaxed)
    phase.store(Phase.waiting, ordering: .releasing)
  }

  /// Returns the response that replaces one that the engine would have created itself.
  func refuse(_ status: Status) -> Response {
    guard let held = unsafe UnsafeRawPointer(bitPattern: exchange.load(ordering: .relaxed)) else {
      // The target hasn't been read yet.
      return failure(status, nil, RequestID(UInt64.random(in: 0..<1 << 60)))
    }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
    let target = exchange.target ?? Target(exchange.rawTarget)
    let answer = failure(
      status, target ?? Target.beginning(of: exchange.rawTarget), exchange.id)
    exchange.step = .answered
    exchange.isRefused = true
    exchange.status = answer.status.code
    exchange.sent = answer.body.count
    return answer
  }

  /// Returns the number of the next request, unique in this run.
  ///
  /// - Parameter block: Returns a number that no other connection has; each covers 2^24 requests.
  /// - Returns: The number.
  func nextRequest(_ block: () -> UInt64) -> UInt64 {
    var number = requests.load(ordering: .relaxed) &+ 1
    if number & 0xFF_FFFF < 2 { number = block() << 24 | 2 }
    requests.store(number, ordering: .relaxed)
    return number
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

  /// Reads remaining input after a rejected request: closing a socket with unread bytes resets the
  /// connection, and the client might not receive the response.
  func drain() {
    unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
      for _ in 0..<64
      where unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 {
        return
      }
    }
  }
}
