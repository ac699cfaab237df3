import Database
import Metrics
import Synchronization

/// Measures what the connections of a database do, and tells what takes long.
final class UseWatch: Sendable {
  /// How long a statement or a wait takes at least for someone to be told.
  static let patience = Duration.seconds(1)
  /// The number of characters of statements that are told.
  private static let longestText = 1_000

  /// Statements that the server is running.
  private struct Running {
    let statements: [SQL]
    /// The process of the server that runs them.
    let process: Int64
    let start = ContinuousClock.now
    var isTold = false
  }

  private struct State {
    var running: [Int: Running] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())
  private let roundTrips = DurationHistogram()
  private let commits = DurationHistogram()
  private let refused = Atomic<Int>(0)
  private let retries = Atomic<Int>(0)
  private let listener = Mutex<(@Sendable (SlowUse) -> Void)?>(nil)

  /// Tells someone about what takes long from now on.
  func tell(_ listener: @escaping @Sendable (SlowUse) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  func noteRetry() { retries.add(1, ordering: .relaxed) }

  /// Notes that the server refused a connection because it has too many.
  func noteRefusal() { refused.add(1, ordering: .relaxed) }

  func noteCommit(since start: ContinuousClock.Instant) { commits.observe(since: start) }

  /// Notes that statements are sent to the server; returns their number for ``end(_:)``.
  func begin(_ statements: [SQL], on process: Int64) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.running[state.lastID] = Running(statements: statements, process: process)
      return state.lastID
    }
  }

  /// Notes that their results were received.
  func end(_ number: Int) {
    guard let running = state.withLock({ $0.running.removeValue(forKey: number) }) else { return }
    roundTrips.observe(since: running.start)
    let duration = ContinuousClock.now - running.start
    if duration >= Self.patience, !running.isTold { report(running, duration, blockers: []) }
  }

  var isRunning: Bool { state.withLock { !$0.running.isEmpty } }

  /// Tells which statements have been running for long, each once.
  ///
  /// - Parameter blockers: Returns the sessions that a process of the server waits for.
  func tellRunning(
    blockers: @escaping @Sendable (_ process: Int64) async -> [LockHolder]
  ) {
    let late = state.withLock { state in
      let late = state.running.filter { !$0.value.isTold && .now - $0.value.start >= Self.patience }
      for number in late.keys { state.running[number]?.isTold = true }
      return late.values
    }
    for one in late {
      Task { self.report(one, .now - one.start, blockers: await blockers(one.process)) }
    }
  }

  private func report(_ running: Running, _ duration: Duration, blockers: [LockHolder]) {
    let text = running.statements.map { $0.text(in: .postgreSQL) }.joined(separator: "; ")
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    report(.statement(String(line.prefix(Self.longestText)), duration, blockers: blockers))
  }

  /// Notes that a caller doesn't wait for a connection any longer.
  func noteWait(for kind: SlowUse.Kind, since start: ContinuousClock.Instant) {
    let duration = ContinuousClock.now - start
    if duration >= Self.patience { report(.wait(kind, duration)) }
  }

  /// Returns what was measured since the start, and the state of the connections.
  func statistics(readers: ConnectionPool, writers: ConnectionPool) -> ServerStatistics {
    ServerStatistics(
      reading: readers.used, writing: writers.used, waitingReads: readers.waiting,
      openReading: readers.open, openWriting: writers.open,
      refused: refused.load(ordering: .relaxed), retries: retries.load(ordering: .relaxed),
      roundTrips: roundTrips.distribution)
  }

  /// The seconds that commits took.
  var commitTimes: Distribution { commits.distribution }

  private func report(_ use: SlowUse) {
    let listener = listener.withLock { $0 }
    listener?(use)
  }
}
