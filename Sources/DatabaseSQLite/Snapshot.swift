import Synchronization

/// One transaction for all reads of a task, begun by the first read.
///
/// Concurrent reads in child tasks find it in use, and borrow their own reader.
final class Snapshot: Sendable {
  private enum State {
    case notBegun
    case free(SQLiteSession)
    case inUse
  }

  @TaskLocal static var current: Snapshot?

  private let readers: ReaderPool
  private let state = Mutex(State.notBegun)

  init(of readers: ReaderPool) {
    self.readers = readers
  }

  /// Returns the current task's snapshot, if it uses these readers.
  static func current(of readers: ReaderPool) -> Snapshot? {
    guard let current, current.readers === readers else { return nil }
    return current
  }

  /// Returns the session with its transaction begun; nil while another read uses it.
  nonisolated(nonsending) func take() async throws -> SQLiteSession? {
    let found = state.withLock { state in
      defer { state = .inUse }
      return state
    }
    switch found {
    case .inUse: return nil
    case .free(let session): return session
    case .notBegun:
      do {
        let session = try await readers.borrow()
        do {
          try session.perform(.begin)
        } catch {
          readers.giveBack(session)
          throw error
        }
        return session
      } catch {
        state.withLock { $0 = .notBegun }
        throw error
      }
    }
  }

  /// Returns the session; if SQLite ended its transaction, the session goes back to the pool.
  func giveBack(_ session: SQLiteSession) {
    guard session.isInTransaction else {
      readers.giveBack(session)
      state.withLock { $0 = .notBegun }
      return
    }
    state.withLock { $0 = .free(session) }
  }

  func end() {
    let last = state.withLock { state in
      defer { state = .inUse }
      return state
    }
    guard case .free(let session) = last else { return }
    session.endRead()
    readers.giveBack(session)
  }
}
