import Database

/// One write that waits or runs.
struct WriteJob: Sendable {
  /// Runs the caller's closure; what it returns hands the result to the caller.
  let run: @Sendable (borrowing Connection) throws -> @Sendable () -> Void

  /// Tells the caller that nothing was stored.
  let fail: @Sendable (any Error) -> Void
}

/// What became of a write, before its caller is told.
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
  /// The transaction costs half a microsecond, so that a read of a single statement has one too.
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

  /// Undoes what the transaction has done, where SQLite has not done so by itself.
  func abandon() {
    guard isInTransaction else { return }
    // A failed ROLLBACK leaves the transaction to the next BEGIN, which fails and says why.
    try? perform(.rollback)
  }

  /// Runs a write inside the group's transaction.
  ///
  /// - Parameter job: The write.
  /// - Returns: What became of it; `nil` when the whole transaction was lost, whatever the
  ///   closure made of that.
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

  /// Runs a write in a transaction of its own.
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
