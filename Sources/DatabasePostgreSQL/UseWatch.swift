import Database
import Metrics
import Synchronization

/// Measures what the connections of a database do, and tells what takes long.
final class UseWatch: Sendable {
  /// How long a statement or a wait takes at least for someone to be told.
  static let patience = Duration.seconds(1)
  /// The number of characters of statements that are told.
  private static let longestText = 1_000

  private let roundTrips = DurationHistogram()
  private let retries = Atomic<Int>(0)
  private let listener = Mutex<(@Sendable (SlowUse) -> Void)?>(nil)

  /// Tells someone about what takes long from now on.
  func tell(_ listener: @escaping @Sendable (SlowUse) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  /// Notes that a write runs again.
  func noteRetry() { retries.add(1, ordering: .relaxed) }

  /// Notes an exchange of statements with the server.
  func noteExchange(since start: ContinuousClock.Instant, of statements: () -> [SQL]) {
    let duration = ContinuousClock.now - start
    roundTrips.observe(nanoseconds: UInt64(max(duration / .nanoseconds(1), 0)))
    guard duration >= Self.patience else { return }
    let text = statements().map { $0.text(in: .postgreSQL) }.joined(separator: "; ")
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    report(.statement(String(line.prefix(Self.longestText)), duration))
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
      retries: retries.load(ordering: .relaxed), roundTrips: roundTrips.distribution)
  }

  private func report(_ use: SlowUse) {
    let listener = listener.withLock { $0 }
    listener?(use)
  }
}
