import CMicroHTTPD
import HTTP
import Network
import Synchronization

/// A request with its response, and the executor of its handler.
///
/// A handler runs on the engine's thread, unless it prefers another executor for a while, such as
/// that of a snapshot of a database on a server. While it waits, the engine's connection is
/// suspended. Whatever it waited for, on any thread, enqueues the handler's next job here and
/// resumes the connection, and the engine's thread runs the job. A wait therefore costs one
/// wake-up.
///
/// `@unchecked Sendable`, because:
/// 1. the stored variables are used only in the engine's callbacks, and the engine calls those of
/// one connection on one thread;
/// 2. `raw`, the engine's connection, is used off that thread only to resume it, by the one party
/// that changed the state from `suspended`, before it unlocks the state; until then the engine
/// keeps a suspended connection alive;
/// 3. everything else is constant or protected by a lock.
@safe final class Exchange: TaskExecutor, @unchecked Sendable {
  /// The progress of the engine's callbacks.
  enum Step {
    case header
    case body
    case excess
    case answering
    case answered
  }

  /// Who runs the handler's next job.
  private enum Phase {
    /// The engine's thread is running jobs, and checks for more before it returns.
    case engine
    /// The connection is suspended; the first job or response resumes it.
    case suspended
    /// The request has ended; remaining jobs of the handler run in the default executor.
    case over
  }

  /// What came of the work that the connection may be suspended for.
  enum Outcome {
    /// The request's header vouches for a large body.
    case admitted
    case response(Response)
  }

  private struct State {
    var phase = Phase.engine
    var jobs: [UnownedJob] = []
    var isAnswered = false
    var outcome: Outcome?
  }

  let connection: Connection
  let id: RequestID
  let rawTarget: String
  let start: UInt64
  private let raw: OpaquePointer

  /// The client's address, as reported by trusted proxies.
  var peer: String
  /// The network that the body counts for.
  var network: NetworkAddress
  var isSecure = false
  /// The ID of the request at a trusted proxy; nil for none.
  var proxyID: String?
  var step = Step.header
  var method = Method.get
  var target: Target?
  var fields = Fields()
  var body: [UInt8] = []
  var bodyLimit = 0
  /// Whether the header vouches for a large body, and whether that's being asked.
  var (isAdmitted, isAsking) = (false, false)
  /// The response when the body is discarded.
  var refusal: Response?
  /// When the header was complete, in coarse milliseconds; 0 for a request without a body.
  var bodyStart: UInt64 = 0
  /// When the handler is given up, in coarse milliseconds; any thread may read it.
  let due = Atomic<UInt64>(.max)
  /// Bytes of the body received, kept or not.
  var received = 0
  /// Bytes of the body counted toward the limit for all bodies.
  var held = 0
  var status = 0
  /// The route that created the response.
  var route: Route.Label?
  var sent = 0
  var isLast = false
  /// Whether the response doesn't wait for the body.
  var isEarly = false

  private let state = Mutex(State())

  init(connection: Connection, id: RequestID, rawTarget: String, raw: OpaquePointer) {
    self.connection = connection
    peer = connection.peer
    network = Connections.network(connection.address)
    self.id = id
    self.rawTarget = rawTarget
    unsafe self.raw = raw
    start = SystemClock.nanoseconds()
  }

  /// Enqueues a job of the handler; called by the concurrency runtime on any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOver = state.withLock { state in
      if state.phase == .over { return true }
      state.jobs.append(job)
      resume(&state)
      return false
    }
    if isOver { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }

  /// Sets the response, from any thread; later calls have no effect.
  func finish(_ response: Response) {
    state.withLock { state in
      guard !state.isAnswered else { return }
      state.isAnswered = true
      state.outcome = .response(response)
      resume(&state)
    }
  }

  /// Admits a large body, unless there's a response already.
  func admit() {
    state.withLock { state in
      guard !state.isAnswered else { return }
      state.outcome = .admitted
      resume(&state)
    }
  }

  /// Resumes a suspended connection, with the state locked.
  ///
  /// Once another thread sees that it isn't suspended, it may stop the engine, which aborts if the
  /// connection isn't resumed by then.
  private func resume(_ state: inout State) {
    guard state.phase == .suspended else { return }
    state.phase = .engine
    unsafe MHD_resume_connection(raw)
  }

  /// Runs the handler until it waits, on the engine's thread.
  ///
  /// - Returns: The outcome; nil when the handler waits, and the connection is suspended.
  func advance() -> Outcome? {
    while true {
      let (jobs, outcome) = state.withLock { state in
        let jobs = state.jobs
        state.jobs = []
        guard jobs.isEmpty else { return (jobs, Outcome?.none) }
        if let outcome = state.outcome {
          state.outcome = nil
          return ([], outcome)
        }
        state.phase = .suspended
        connection.suspended.withLock { $0 = self }
        unsafe MHD_suspend_connection(raw)
        return ([], nil)
      }
      guard !jobs.isEmpty else { return outcome }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  func close() {
    connection.suspended.withLock { $0 = nil }
    let jobs = state.withLock { state in
      state.phase = .over
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }
}
