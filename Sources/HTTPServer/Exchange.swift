import CMicroHTTPD
import HTTP
import Synchronization

/// One request and its answer.
///
/// `@unchecked Sendable`, because:
/// 1. the stored variables are touched in the engine's callbacks only, and the engine calls those
///    of one connection on one thread;
/// 2. `raw`, the engine's connection, is used off that thread only to resume it, by the one party
///    that found the state `suspended`; until then the engine keeps a suspended connection alive;
/// 3. everything else is a constant, an atomic or behind a lock.
@safe final class Exchange: @unchecked Sendable {
  /// How far the engine's callbacks have come.
  enum Step {
    case header
    case body
    case excess
    case answering
    case answered
  }

  private enum State {
    static let running: UInt8 = 0
    static let suspended: UInt8 = 1
    static let finished: UInt8 = 2
  }

  let connection: Connection
  let id: RequestID
  let rawTarget: String
  /// Where the engine holds the target, to see what stands around it.
  let targetAddress: UInt
  /// The bytes of the target.
  let targetSize: Int
  let start: UInt64
  private let raw: OpaquePointer

  var step = Step.header
  var method = Method.get
  var target: Target?
  var fields = Fields()
  var body: [UInt8] = []
  var bodyLimit = 0
  var bodyStart: UInt64 = 0
  /// Bytes of the body that have come, kept or not.
  var received = 0
  var status = 0
  var sent = 0

  private let state = Atomic<UInt8>(State.running)
  private let answer = Mutex<Response?>(nil)

  init(
    connection: Connection, id: RequestID, rawTarget: String, target: (start: UInt, count: Int),
    raw: OpaquePointer
  ) {
    self.connection = connection
    self.id = id
    self.rawTarget = rawTarget
    targetAddress = target.start
    targetSize = target.count
    unsafe self.raw = raw
    start = SystemClock.nanoseconds()
  }

  /// The answer, once there is one.
  var response: Response? {
    guard state.load(ordering: .acquiring) == State.finished else { return nil }
    return answer.withLock { $0 }
  }

  /// Gives the answer, from any thread; the first one counts.
  func finish(_ response: Response) {
    let isFirst = answer.withLock { answer in
      guard answer == nil else { return false }
      answer = response
      return true
    }
    guard isFirst else { return }
    let before = state.exchange(State.finished, ordering: .acquiringAndReleasing)
    if before == State.suspended { unsafe MHD_resume_connection(raw) }
  }

  /// Lets the engine go on with other connections until there is an answer; on its own thread.
  func suspend() {
    connection.suspended.withLock { $0 = self }
    unsafe MHD_suspend_connection(raw)
    let (isSuspended, _) = state.compareExchange(
      expected: State.running, desired: State.suspended, ordering: .acquiringAndReleasing)
    if !isSuspended { unsafe MHD_resume_connection(raw) }
  }

  /// Forgets the connection's hold on this exchange.
  func release() {
    connection.suspended.withLock { $0 = nil }
  }
}
