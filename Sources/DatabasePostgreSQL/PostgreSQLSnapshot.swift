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

  /// The database's connections, which identify it.
  private let readers: ConnectionPool
  /// The connection, or why there's none.
  private let slot: Result<ConnectionPool.Slot, any Error>
  /// Changes only on the connection's thread.
  private let state = Mutex(State.notBegun)

  private init(
    _ slot: Result<ConnectionPool.Slot, any Error>, of readers: ConnectionPool
  ) {
    (self.slot, self.readers) = (slot, readers)
  }

  /// Runs a closure with a snapshot, whose reads fail if no connection can be had.
  static nonisolated(nonsending) func run<T>(
    of readers: ConnectionPool,
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T {
    let slot: Result<ConnectionPool.Slot, any Error>
    do { slot = .success(try await readers.borrow()) } catch { slot = .failure(error) }
    let snapshot = PostgreSQLSnapshot(slot, of: readers)
    return try await withTaskExecutorPreference((try? slot.get()) == nil ? nil : snapshot) {
      // Here, the task usually runs on the connection's thread.
      defer { snapshot.end() }
      return try await $current.withValue(snapshot, operation: body)
    }
  }

  /// Returns the current task's snapshot, if it's of the database with these connections.
  static func current(of readers: ConnectionPool) -> PostgreSQLSnapshot? {
    guard let current, current.readers === readers else { return nil }
    return current
  }

  /// Runs a job of the task; called by the concurrency runtime.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard case .success(let slot) = slot else {
      return globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }
    slot.queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Runs a read, after those that are in progress; nil when the snapshot is over, as it can be for
  /// a task that outlives the one that began it.
  nonisolated(nonsending) func read<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async -> Result<T, any Error>? {
    let slot: ConnectionPool.Slot
    switch self.slot {
    case .success(let borrowed): slot = borrowed
    case .failure(let error): return .failure(error)
    }
    if slot.isCurrent { return run(body, on: slot.session) }
    let work = OneTimeWork { session in self.run(body, on: session) }
    return await withCheckedContinuation { continuation in
      slot.queue.async {
        switch work.run(slot.session) {
        case .success(let result): continuation.resume(returning: result)
        case .failure(let error): continuation.resume(returning: .failure(error))
        }
      }
    }
  }

  /// Begins the transaction if that hasn't been done; returns whether there's one.
  private func begin(on session: PostgreSQLSession) -> Bool {
    switch state.withLock({ $0 }) {
    case .over: return false
    case .begun: return true
    case .notBegun:
      session.begin(.read)
      state.withLock { $0 = .begun }
      return true
    }
  }

  /// Runs a read on the connection's thread.
  ///
  /// After a failure, which ends the transaction, the next read begins another.
  private func run<T>(
    _ body: (borrowing Connection) throws -> T, on session: PostgreSQLSession
  ) -> Result<T, any Error>? {
    guard begin(on: session) else { return nil }
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
    guard case .success(let slot) = slot else { return }
    readers.giveBack(slot) { [self] in
      let last = state.withLock { state in
        defer { state = .over }
        return state
      }
      if case .begun = last {
        slot.session.endReads()
        slot.session.settle()
      }
    }
  }
}
