import Database

/// A waiting or running write.
struct WriteJob: Sendable {
  /// Runs the caller's closure; the returned function passes the result to the caller.
  let run: @Sendable (borrowing Connection) throws -> @Sendable () -> Void

  /// Reports to the caller that nothing was stored.
  let fail: @Sendable (any Error) -> Void
}

/// The result of a write, before it's reported to the caller.
enum WriteOutcome {
  case done(@Sendable () -> Void)
  case undone(any Error)

  var isDone: Bool {
    if case .done = self { true } else { false }
  }
}

extension SQLiteSession {
  /// Runs a closure on a snapshot.
  ///
  /// The transaction takes half a microsecond, so even a single statement gets one.
  func read<T>(_ body: (borrowing Connection) throws -> T) throws -> T {
    try perform(.begin)
    defer { endRead() }
    return try body(Connection(self))
  }

  /// Ends the transaction of one or more reads.
  func endRead() {
    guard isInTransaction else { return }
    do { try perform(.commit) } catch { abandon() }
  }

  /// Rolls back the transaction, unless SQLite already did.
  func abandon() {
    guard isInTransaction else { return }
    // If ROLLBACK fails, the next BEGIN fails too and reports the reason.
    try? perform(.rollback)
  }

  func beginSavepoint() throws(DatabaseError) {
    guard isInTransaction else { throw loss }
    try perform(.savepointOfPart)
  }

  func releaseSavepoint() throws(DatabaseError) {
    guard isInTransaction else { throw loss }
    try perform(.releasePart)
  }

  func rollBackToSavepoint() throws(DatabaseError) {
    guard isInTransaction else { throw loss }
    try perform(.rollbackToPart)
    try perform(.releasePart)
  }

  /// Runs a write inside the group's transaction; nil when the whole transaction was lost,
  /// regardless of the closure's result.
  func runInGroup(_ job: WriteJob) -> WriteOutcome? {
    do {
      try perform(.savepoint)
      let outcome: WriteOutcome
      do {
        outcome = .done(try job.run(Connection(self)))
      } catch {
        outcome = .undone(error)
      }
      guard isInTransaction else { return nil }
      if !outcome.isDone { try perform(.rollbackToSavepoint) }
      try perform(.release)
      return outcome
    } catch {
      return nil
    }
  }

  func runAlone(_ job: WriteJob) -> WriteOutcome {
    do {
      try perform(.beginImmediate)
      let tell = try job.run(Connection(self))
      guard isInTransaction else { throw loss }
      try perform(.commit)
      return .done(tell)
    } catch {
      abandon()
      return .undone(error)
    }
  }
}
