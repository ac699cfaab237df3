import CMicroHTTPD
import Glibc
import HTTP
import Synchronization

/// One socket of a client, from its acceptance to its end.
final class Connection: Sendable {
  /// What a connection is doing, as far as stopping is concerned.
  enum Phase {
    static let waiting: UInt8 = 0
    static let serving: UInt8 = 1
  }

  /// Makes the answer to a request that no handler sees.
  typealias Failure = @Sendable (Status, Target?, RequestID) -> Response

  static let never = UInt64.max

  let socket: Int32
  /// The address of the other end; nil for what isn't an IP address.
  let address: NetworkAddress?
  /// The same as text.
  let peer: String
  /// Whether it counts among those of its network.
  let isCounted: Bool
  /// Which threads serve it: a new certificate has new ones.
  let generation: Int
  /// Which of the threads serves it.
  let thread: Int
  /// When the socket is shut, in coarse milliseconds.
  let deadline: Atomic<UInt64>
  let phase = Atomic<UInt8>(Phase.waiting)
  /// Since when it waits for a request, in coarse milliseconds.
  let idleSince: Atomic<UInt64>
  /// Whether both directions have been cut.
  let isShut = Atomic<Bool>(false)
  /// Whether the request has a transfer coding; used on the engine's thread only.
  let isTransferCoded = Atomic<Bool>(false)
  /// The number of the last request; written on the engine's thread only.
  let requests = Atomic<UInt64>(0)
  /// The exchange whose handler is suspended.
  let suspended = Mutex<Exchange?>(nil)
  /// The address of the exchange under way, 0 for none; used on the engine's thread only.
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

  /// Remembers the exchange that has begun, which the engine retains until it is complete.
  func begin(_ exchange: UnsafeMutableRawPointer) {
    phase.store(Phase.serving, ordering: .releasing)
    self.exchange.store(UInt(bitPattern: exchange), ordering: .relaxed)
  }

  /// The exchange is complete; what comes next is another request.
  func wait(since now: UInt64, until deadline: UInt64) {
    exchange.store(0, ordering: .relaxed)
    expire(at: deadline)
    idleSince.store(now, ordering: .relaxed)
    phase.store(Phase.waiting, ordering: .releasing)
  }

  /// The answer in place of one that the engine would have made itself.
  func refuse(_ status: Status) -> Response {
    guard let held = unsafe UnsafeRawPointer(bitPattern: exchange.load(ordering: .relaxed)) else {
      // No target was read yet.
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
    isShut.store(true, ordering: .relaxed)
    _ = shutdown(socket, Int32(SHUT_RDWR))
  }

  /// Reads what the client has sent beyond a refused request: closing over unread bytes would reset
  /// the connection, and the client might lose the answer.
  func drain() {
    unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
      for _ in 0..<64
      where unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 {
        return
      }
    }
  }
}
