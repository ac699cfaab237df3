import Database
import Dispatch
import Synchronization

/// One transaction for all reads of a task, begun by the first read.
///
/// Concurrent reads in child tasks find it in use, and run in their own transactions.
final class PostgreSQLSnapshot: Sendable {
  private enum State {
    case notBegun
    case free(ConnectionPool.Slot)
    case inUse
  }

  @TaskLocal static var current: PostgreSQLSnapshot?

  /// The database's own connections, which identify it.
  private let own: ConnectionPool
  /// The connections of the snapshot: the same, or those to a replica.
  let readers: ConnectionPool
  private let state = Mutex(State.notBegun)

  init(of own: ConnectionPool, on replica: ConnectionPool? = nil) {
    self.own = own
    readers = replica ?? own
  }

  /// Returns the current task's snapshot, if it's of the database with these connections.
  static func current(of own: ConnectionPool) -> PostgreSQLSnapshot? {
    guard let current, current.own === own else { return nil }
    return current
  }

  /// Returns the connection and whether its transaction has yet to begin; nil while another read
  /// uses it.
  nonisolated(nonsending) func take() async throws -> (slot: ConnectionPool.Slot, isNew: Bool)? {
    let found = state.withLock { state in
      defer { state = .inUse }
      return state
    }
    switch found {
    case .inUse: return nil
    case .free(let slot): return (slot, false)
    case .notBegun:
      do {
        return (try await readers.borrow(), true)
      } catch {
        state.withLock { $0 = .notBegun }
        throw error
      }
    }
  }

  /// Runs a read on a connection that was taken, and makes it available for the next one.
  ///
  /// After a failure, which ends the transaction, the next read begins another.
  nonisolated(nonsending) func run<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T, on slot: ConnectionPool.Slot,
    isNew: Bool
  ) async throws -> T {
    let work = OneTimeWork { session in try body(Connection(session)) }
    return try await withCheckedThrowingContinuation { continuation in
      slot.queue.async {
        if isNew { slot.session.begin(.read) }
        let result = work.run(slot.session)
        let hasFailed = slot.session.failure != nil
        if hasFailed { slot.session.end() }
        self.state.withLock { $0 = hasFailed ? .notBegun : .free(slot) }
        if hasFailed { self.readers.giveBack(slot) }
        continuation.resume(with: result)
      }
    }
  }

  /// Ends the transaction.
  func end() {
    let last = state.withLock { state in
      defer { state = .inUse }
      return state
    }
    guard case .free(let slot) = last else { return }
    slot.queue.async {
      slot.session.end("commit")
      slot.session.settle()
    }
    readers.giveBack(slot)
  }
}
