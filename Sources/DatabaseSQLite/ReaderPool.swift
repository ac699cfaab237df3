import Database
import Synchronization

/// The readers, each lent to one read at a time.
///
/// A returned reader goes directly to the caller that has waited the longest, so that later callers
/// can't overtake it.
final class ReaderPool: Sendable {
  private struct Waiter {
    let id: UInt64
    let continuation: CheckedContinuation<SQLiteSession, any Error>
  }

  private struct State {
    var free: [SQLiteSession]
    var borrowed = 0
    var waiting = FIFO<Waiter>()
    var lastID: UInt64 = 0
    var reads = 0
    var isClosed = false
    var whenIdle: [CheckedContinuation<Void, Never>] = []

    mutating func lendFree() throws(DatabaseError) -> SQLiteSession? {
      guard !isClosed else { throw .closed }
      guard let session = free.popLast() else { return nil }
      borrowed += 1
      reads += 1
      return session
    }
  }

  private let state: Mutex<State>

  init(_ sessions: [SQLiteSession]) {
    state = Mutex(State(free: sessions))
  }

  var reads: Int { state.withLock { $0.reads } }

  /// Borrows a reader, without suspending if one is free.
  nonisolated(nonsending) func borrow() async throws -> SQLiteSession {
    if let session = try borrowFree() { return session }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        wait(Waiter(id: id, continuation: continuation))
        if Task.isCancelled { stopWaiting(id) }
      }
    } onCancel: {
      stopWaiting(id)
    }
  }

  private func borrowFree() throws(DatabaseError) -> SQLiteSession? {
    try state.withLock { state throws(DatabaseError) in try state.lendFree() }
  }

  private func wait(_ waiter: Waiter) {
    let answer: Result<SQLiteSession, any Error>? = state.withLock { state in
      do {
        if let session = try state.lendFree() { return .success(session) }
      } catch {
        return .failure(error)
      }
      state.waiting.append(waiter)
      return nil
    }
    if let answer { waiter.continuation.resume(with: answer) }
  }

  private func stopWaiting(_ id: UInt64) {
    let waiter = state.withLock { $0.waiting.remove { $0.id == id } }
    waiter?.continuation.resume(throwing: CancellationError())
  }

  func giveBack(_ session: SQLiteSession) {
    let next = state.withLock { state -> Waiter? in
      if let next = state.waiting.popFirst() {
        state.reads += 1
        return next
      }
      state.borrowed -= 1
      if !state.isClosed { state.free.append(session) }
      return nil
    }
    if let next {
      next.continuation.resume(returning: session)
    } else {
      resumeClosersWhenIdle()
    }
  }

  /// Rejects further reads, waits until every reader is returned, and releases them.
  func close() async {
    let waiting = state.withLock { state -> [Waiter] in
      state.isClosed = true
      state.free = []
      var waiting: [Waiter] = []
      while let waiter = state.waiting.popFirst() { waiting.append(waiter) }
      return waiting
    }
    for waiter in waiting { waiter.continuation.resume(throwing: DatabaseError.closed) }
    await withCheckedContinuation { continuation in
      state.withLock { $0.whenIdle.append(continuation) }
      resumeClosersWhenIdle()
    }
  }

  private func resumeClosersWhenIdle() {
    let closers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.isClosed, state.borrowed == 0 else { return [] }
      defer { state.whenIdle = [] }
      return state.whenIdle
    }
    for closer in closers { closer.resume() }
  }
}

extension DatabaseError {
  static var closed: DatabaseError { DatabaseError(.closed, "the database has been closed") }
}
