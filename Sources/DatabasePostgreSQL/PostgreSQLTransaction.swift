public import Database
import Dispatch
import Glibc

/// One transaction for many writes, which are stored together or not at all.
///
/// Its writes aren't repeated when they conflict with others.
public final class PostgreSQLTransaction: DatabaseWriter {
  private let slot: ConnectionPool.Slot

  init(_ slot: ConnectionPool.Slot) {
    self.slot = slot
  }

  /// Runs a write in the transaction.
  ///
  /// - Throws: What `body` throws; `DatabaseError`, after which all further writes fail.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    try await run { session in
      let value = try body(Connection(session))
      if let failure = session.failure { throw failure.error }
      return value
    }
  }

  nonisolated(nonsending) func run<T: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLSession) throws -> T
  ) async throws -> T {
    let session = slot.session
    return try await withCheckedThrowingContinuation { continuation in
      slot.queue.async { continuation.resume(with: Result { try body(session) }) }
    }
  }
}

extension PostgreSQLDatabase {
  /// Runs many writes in one transaction, which occupies a connection until `body` returns.
  ///
  /// - Parameter body: Writes to the transaction any number of times.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws, in which case nothing was stored; `DatabaseError`, with
  ///   `.outcomeUnknown` when the connection was lost during the commit.
  public nonisolated(nonsending) func transaction<T>(
    _ body: nonisolated(nonsending) (PostgreSQLTransaction) async throws -> T
  ) async throws -> T {
    let slot = try await writers.borrow()
    defer { writers.giveBack(slot) }
    let transaction = PostgreSQLTransaction(slot)
    do {
      try await transaction.run { $0.begin(.write) }
      let value = try await body(transaction)
      try await transaction.run { session in
        do throws(PostgreSQLError) { try session.commit() } catch { throw error.error }
      }
      return value
    } catch {
      try? await transaction.run { session in
        session.end()
        session.settle()
      }
      throw error
    }
  }
}

/// How often and how soon a conflicting write runs again.
struct RetryPolicy: Sendable {
  /// The least number of runs, including the first.
  var runs = 40
  /// How long a conflicting write keeps running again, at least.
  ///
  /// While a transaction is open in any database of the server, it remembers only so many others,
  /// and refuses each that reads what a forgotten one wrote. Ten seconds is longer than a write may
  /// wait for its next statement.
  var patience: Duration = .seconds(10)
  /// The number of runs after which writes that conflicted run again one at a time, so that those
  /// of one process don't keep each other from ending.
  var crowd = 4
  /// The number of runs after which a row that its snapshot doesn't have is an error of the write:
  /// by then it has run automatically several times.
  var duplicates = 12
  /// Whose turn it is among writes that run one at a time.
  let turn = DispatchSemaphore(value: 1)
  /// The longest wait after the first conflict, in milliseconds; it doubles with each further one.
  var first = 1.0
  /// The longest wait, in milliseconds.
  var longest = 64.0

  /// Returns whether a write that failed should run again.
  func allowsRun(after failure: PostgreSQLError, runs: Int, since start: ContinuousClock.Instant)
    -> Bool
  {
    if failure.isDuplicate { return runs < duplicates }
    return failure.isRetryable && (runs < self.runs || ContinuousClock.now - start < patience)
  }

  /// Returns how many microseconds to wait after a number of conflicts: a random time, so that
  /// writes that met once don't meet again.
  func pause(after conflicts: Int) -> UInt32 {
    let most = min(first * Double(1 << min(conflicts - 1, 16)), longest)
    return UInt32(Double.random(in: 0...most) * 1000)
  }
}

extension PostgreSQLSession {
  func read<T>(_ body: (borrowing Connection) throws -> T) throws -> T {
    begin(.read)
    defer { endReads() }
    return try body(Connection(self))
  }

  /// Runs a write until it's stored without a conflict; throws what the last run throws, the
  /// failure of its commit, or `.busy` after too many conflicts.
  func write<T>(
    _ policy: RetryPolicy, _ body: (borrowing Connection) throws -> T
  ) throws -> T {
    var runs = 0
    let start = ContinuousClock.now
    while true {
      if runs > 0 { usleep(policy.pause(after: runs)) }
      runs += 1
      if runs > 1 { watch.noteRetry() }
      if runs > policy.crowd { policy.turn.wait() }
      defer { if runs > policy.crowd { policy.turn.signal() } }
      begin(.write)
      let result = Result { try body(Connection(self)) }
      // An error that the closure ignored, or replaced by its own, decides as well.
      var failed = failure
      if failed == nil, case .success(let value) = result {
        do throws(PostgreSQLError) {
          try commit()
          return value
        } catch {
          failed = error
        }
      }
      end()
      settle()
      guard let failed, policy.allowsRun(after: failed, runs: runs, since: start) else {
        if case .failure(let error) = result { throw error }
        throw failed?.error ?? DatabaseError(.misuse, "the transaction is over")
      }
    }
  }
}
