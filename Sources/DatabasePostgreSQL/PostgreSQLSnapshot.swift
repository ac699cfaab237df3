import Database
import Dispatch
import Synchronization

/// One transaction for all reads of a task, begun by the first read, and the task's executor
/// meanwhile.
///
/// The task runs on the thread of the snapshot's connection, so its reads, one after another, don't
/// wait for other threads.
final class PostgreSQLSnapshot: TaskExecutor {
  private enum State {
    case notBegun
    case begun
    case over
  }

  @TaskLocal static var current: PostgreSQLSnapshot?

  /// The database's own connections, which identify it.
  private let own: ConnectionPool
  /// The connections of the snapshot: the same, or those to a replica.
  let readers: ConnectionPool
  private let slot: ConnectionPool.Slot
  /// Changes only on the connection's thread.
  private let state = Mutex(State.notBegun)

  private init(_ slot: ConnectionPool.Slot, of own: ConnectionPool, on readers: ConnectionPool) {
    (self.slot, self.own, self.readers) = (slot, own, readers)
  }

  /// Runs a closure with a snapshot; without one, if no connection can be had.
  ///
  /// - Parameters:
  ///   - own: The connections that identify the database.
  ///   - replica: The connections to use, if they're others.
  ///   - body: The reads.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws.
  static nonisolated(nonsending) func run<T>(
    of own: ConnectionPool, on replica: ConnectionPool? = nil,
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    let readers = replica ?? own
    // The reads of `body` fail by themselves.
    guard let slot = try? await readers.borrow() else { return try await body() }
    let snapshot = PostgreSQLSnapshot(slot, of: own, on: readers)
    defer { snapshot.end() }
    return try await withTaskExecutorPreference(snapshot) {
      try await $current.withValue(snapshot, operation: body)
    }
  }

  /// Returns the current task's snapshot, if it's of the database with these connections.
  static func current(of own: ConnectionPool) -> PostgreSQLSnapshot? {
    guard let current, current.own === own else { return nil }
    return current
  }

  /// Runs a job of the task; called by the concurrency runtime.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    slot.queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs a read, after those that are in progress.
  ///
  /// - Returns: Its result; nil when the snapshot is over, as it can be for a task that outlives the
  ///   one that began it.
  nonisolated(nonsending) func read<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async -> Result<T, any Error>? {
    if slot.isCurrent { return run(body) }
    let work = OneTimeWork { _ in self.run(body) }
    return await withCheckedContinuation { continuation in
      slot.queue.async {
        switch work.run(self.slot.session) {
        case .success(let result): continuation.resume(returning: result)
        case .failure(let error): continuation.resume(returning: .failure(error))
        }
      }
    }
  }

  /// Prefetches queries, if the task runs on the connection's thread, as it nearly always does.
  func prefetch(_ queries: () -> [SQL]) {
    guard slot.isCurrent, begin() else { return }
    slot.session.prefetch(queries)
  }

  /// Begins the transaction if that hasn't been done.
  ///
  /// - Returns: Whether there's one.
  private func begin() -> Bool {
    switch state.withLock({ $0 }) {
    case .over: return false
    case .begun: return true
    case .notBegun:
      slot.session.begin(.read)
      state.withLock { $0 = .begun }
      return true
    }
  }

  /// Runs a read on the connection's thread.
  ///
  /// After a failure, which ends the transaction, the next read begins another.
  private func run<T>(
    _ body: (borrowing Connection) throws -> T
  ) -> Result<T, any Error>? {
    guard begin() else { return nil }
    let session = slot.session
    let result = Result { try body(Connection(session)) }
    if session.failure != nil {
      session.end()
      session.settle()
      state.withLock { $0 = .notBegun }
    }
    return result
  }

  /// Ends the transaction and gives the connection back.
  private func end() {
    readers.giveBack(slot) { [self] in
      let last = state.withLock { state in
        defer { state = .over }
        return state
      }
      if case .begun = last {
        slot.session.end("commit")
        slot.session.settle()
      }
    }
  }
}
