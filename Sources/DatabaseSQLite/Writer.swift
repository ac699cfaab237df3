import Database
import Dispatch
import Metrics
import Synchronization

/// The only writer: a queue of writes, stored in groups on a dedicated thread.
///
/// A group consists of all waiting writes, up to a maximum number and time. Each write runs in a
/// savepoint, one commit stores them all, and only then are the callers notified. If the
/// transaction is lost or the commit fails, no caller has been notified yet: each write of the
/// group runs again alone and gets its own result.
final class Writer: Sendable {
  struct Limits: Sendable {
    var waiting: Int
    var group = 256
    var time: Duration = .milliseconds(20)
  }

  private enum Work {
    case write(WriteJob)
    case control(@Sendable (SQLiteSession) -> Void)
  }

  private struct Entry {
    let id: UInt64
    let work: Work
  }

  private struct State {
    var session: SQLiteSession?
    var waiting = FIFO<Entry>()
    var lastID: UInt64 = 0
    var isRunning = false
    var isClosed = false
    var statistics = DatabaseStatistics()
  }

  /// What the thread is doing, and since when; told once it has taken long.
  private struct Running {
    var text: String
    var start: ContinuousClock.Instant
    var isTold = false
  }

  private let running = Mutex<Running?>(nil)
  private let commits = DurationHistogram()
  private let limits: Limits
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "countersign.database.writer")

  init(_ session: SQLiteSession, _ limits: Limits) {
    self.limits = limits
    state = Mutex(State(session: session))
  }

  var statistics: DatabaseStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.waitingWrites = state.waiting.count
      statistics.commitTimes = commits.distribution
      return statistics
    }
  }

  var isRunning: Bool { running.withLock { $0 != nil } }

  /// Returns what has been running for at least as long, once for each.
  func takeSlow(_ patience: Duration) -> SlowUse? {
    running.withLock { running in
      guard let one = running, !one.isTold else { return nil }
      let duration = ContinuousClock.now - one.start
      guard duration >= patience else { return nil }
      running?.isTold = true
      return .statement(one.text, duration)
    }
  }

  // MARK: - For callers

  nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    let id = makeID()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let job = WriteJob(
          run: { connection in
            let value = try body(connection)
            return { continuation.resume(returning: value) }
          },
          fail: { continuation.resume(throwing: $0) })
        do {
          try add(Entry(id: id, work: .write(job)))
        } catch {
          job.fail(error)
        }
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Queues work on the writer's session that isn't a transaction, and waits for it.
  func control(
    _ body: @escaping @Sendable (SQLiteSession) throws(DatabaseError) -> Void
  ) async throws {
    let id = makeID()
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      do {
        try add(
          Entry(
            id: id,
            work: .control { session in
              continuation.resume(with: Result { try body(session) })
            }))
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  func finish() async {
    state.withLock { $0.isClosed = true }
    await withCheckedContinuation { continuation in
      // A write that was just added may not have started its own drain yet.
      queue.async {
        self.drain()
        continuation.resume()
      }
    }
  }

  /// Closes the connection; must be called last, after ``finish()``.
  ///
  /// The last connection to a file checkpoints the log, which can take a while.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.state.withLock { $0.session = nil }
        continuation.resume()
      }
    }
  }

  private func makeID() -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  private func add(_ entry: Entry) throws(DatabaseError) {
    let isFirst = try state.withLock { state throws(DatabaseError) in
      guard !state.isClosed else { throw .closed }
      guard state.waiting.count < limits.waiting else {
        throw DatabaseError(.busy, "\(limits.waiting) writes wait already")
      }
      state.waiting.append(entry)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isFirst { queue.async { self.drain() } }
  }

  private func cancel(_ id: UInt64) {
    let entry = state.withLock { $0.waiting.remove { $0.id == id } }
    if case .write(let job)? = entry?.work { job.fail(CancellationError()) }
  }

  // MARK: - On the writer's thread

  private func drain() {
    while let (session, control) = next() {
      if let control { control(session) } else { runGroup(session) }
    }
  }

  /// Returns the next task: a control, or a group when the closure is `nil`.
  private func next() -> (SQLiteSession, (@Sendable (SQLiteSession) -> Void)?)? {
    state.withLock { state in
      guard let session = state.session, let first = state.waiting.first else {
        state.isRunning = false
        return nil
      }
      guard case .control(let control) = first.work else { return (session, nil) }
      _ = state.waiting.popFirst()
      return (session, control)
    }
  }

  private func nextWrite() -> WriteJob? {
    state.withLock { state in
      guard case .write(let job)? = state.waiting.first?.work else { return nil }
      _ = state.waiting.popFirst()
      return job
    }
  }

  private func runGroup(_ session: SQLiteSession) {
    defer { running.withLock { $0 = nil } }
    do {
      try run("BEGIN IMMEDIATE") { () throws(DatabaseError) in try session.perform(.beginImmediate)
      }
    } catch {
      session.abandon()
      for _ in 0..<limits.group { nextWrite()?.fail(error) }
      return
    }
    running.withLock { $0 = Running(text: "writes", start: .now) }
    let end = ContinuousClock.now + limits.time
    var group: [(job: WriteJob, outcome: WriteOutcome?)] = []
    while group.count < limits.group, let job = nextWrite() {
      group.append((job, session.runInGroup(job)))
      guard group.last?.outcome != nil, ContinuousClock.now < end else { break }
    }
    guard commit(group.map(\.outcome), session) else {
      session.abandon()
      for (job, _) in group { tell(job, session.runAlone(job), countingCommit: true) }
      return
    }
    for case (let job, let outcome?) in group { tell(job, outcome, countingCommit: false) }
  }

  /// Commits the group's transaction; returns false when its results aren't stored.
  private func commit(_ outcomes: [WriteOutcome?], _ session: SQLiteSession) -> Bool {
    let done = outcomes.count { $0?.isDone == true }
    guard outcomes.allSatisfy({ $0 != nil }) else { return false }
    guard done > 0 else {
      session.abandon()
      return true
    }
    let start = ContinuousClock.now
    do {
      try run("COMMIT") { () throws(DatabaseError) in try session.perform(.commit) }
    } catch {
      return false
    }
    commits.observe(since: start)
    state.withLock { $0.statistics.countCommit(of: done) }
    return true
  }

  private func run(
    _ text: String, _ body: () throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    running.withLock { $0 = Running(text: text, start: .now) }
    try body()
  }

  private func tell(_ job: WriteJob, _ outcome: WriteOutcome, countingCommit: Bool) {
    switch outcome {
    case .done(let tell):
      if countingCommit { state.withLock { $0.statistics.countCommit(of: 1) } }
      tell()
    case .undone(let error):
      job.fail(error)
    }
  }
}

extension DatabaseStatistics {
  fileprivate mutating func countCommit(of writes: Int) {
    self.writes += writes
    commits += 1
    largestGroup = max(largestGroup, writes)
    let power = Int.bitWidth - (max(writes, 1) - 1).leadingZeroBitCount
    groups[min(power, groups.count - 1)] += 1
  }
}
