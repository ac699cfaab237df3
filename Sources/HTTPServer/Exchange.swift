import CMicroHTTPD
import HTTP
import Synchronization

/// One request and its answer, and the executor of the handler that makes it.
///
/// A handler runs on the engine's thread from its first to its last step. While it waits for
/// something the engine's connection is suspended; what it waited for, on whatever thread that
/// comes, leaves the handler's next step here and resumes the connection, and the engine's thread
/// takes the step. So nothing but the engine's threads runs handlers, and a wait costs one wake-up.
///
/// `@unchecked Sendable`, because:
/// 1. the stored variables are touched in the engine's callbacks only, and the engine calls those
///    of one connection on one thread;
/// 2. `raw`, the engine's connection, is used off that thread only to resume it, by the one party
///    that moved the state away from `suspended`; until then the engine keeps a suspended
///    connection alive;
/// 3. everything else is a constant or behind a lock.
@safe final class Exchange: TaskExecutor, @unchecked Sendable {
  /// How far the engine's callbacks have come.
  enum Step {
    case header
    case body
    case excess
    case answering
    case answered
  }

  /// Who is to take the next step of the handler.
  private enum Turn {
    /// The engine's thread is at it, and looks for further steps before it leaves.
    case engine
    /// The connection is suspended: the first to bring a step, or the answer, resumes it.
    case suspended
    /// The request is over: what is left of a handler runs in the common pool.
    case over
  }

  private struct State {
    var turn = Turn.engine
    var jobs: [UnownedJob] = []
    var isAnswered = false
    var answer: Response?
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

  /// The address of the client, as far as trusted proxies tell.
  var peer: String
  var step = Step.header
  var method = Method.get
  var target: Target?
  var fields = Fields()
  var body: [UInt8] = []
  var bodyLimit = 0
  /// Reads the body when it comes in chunks.
  var chunks: ChunkDecoder?
  /// What a body that is not kept is answered with.
  var refusal = Status.contentTooLarge
  var bodyStart: UInt64 = 0
  /// Bytes of the body that have come, kept or not.
  var received = 0
  /// Bytes of the body that count among those of all bodies.
  var held = 0
  var status = 0
  var sent = 0
  /// Whether it was answered in place of a handler, after which the connection ends.
  var isRefused = false

  private let state = Mutex(State())

  init(
    connection: Connection, id: RequestID, rawTarget: String, target: (start: UInt, count: Int),
    raw: OpaquePointer
  ) {
    self.connection = connection
    peer = connection.peer
    self.id = id
    self.rawTarget = rawTarget
    targetAddress = target.start
    targetSize = target.count
    unsafe self.raw = raw
    start = SystemClock.nanoseconds()
  }

  /// Takes a step of the handler; called by the concurrency runtime on any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (isWaiting, isOver) = state.withLock { state in
      if state.turn == .over { return (false, true) }
      state.jobs.append(job)
      defer { state.turn = .engine }
      return (state.turn == .suspended, false)
    }
    if isWaiting { unsafe MHD_resume_connection(raw) }
    if isOver { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }

  /// Gives the answer, from any thread; the first one counts.
  func finish(_ response: Response) {
    let isWaiting = state.withLock { state in
      guard !state.isAnswered else { return false }
      state.isAnswered = true
      state.answer = response
      defer { if state.turn == .suspended { state.turn = .engine } }
      return state.turn == .suspended
    }
    if isWaiting { unsafe MHD_resume_connection(raw) }
  }

  /// Runs the handler as far as it gets, on the engine's thread.
  ///
  /// - Returns: The answer, or nothing when the handler waits; the connection is suspended then.
  func advance() -> Response? {
    while true {
      let (jobs, answer) = state.withLock { state in
        let jobs = state.jobs
        state.jobs = []
        guard jobs.isEmpty else { return (jobs, Response?.none) }
        if let answer = state.answer {
          state.answer = nil
          return ([], answer)
        }
        state.turn = .suspended
        connection.suspended.withLock { $0 = self }
        unsafe MHD_suspend_connection(raw)
        return ([], nil)
      }
      guard !jobs.isEmpty else { return answer }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// The request is over: lets go of what is kept for it.
  func close() {
    connection.suspended.withLock { $0 = nil }
    let jobs = state.withLock { state in
      state.turn = .over
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }
}
