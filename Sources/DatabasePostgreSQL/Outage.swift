import Synchronization

/// What the connections of a process know of a server that doesn't answer.
///
/// Opening a connection to it takes seconds. Callers that each found that out for themselves would
/// wait for one another.
final class Outage: Sendable {
  private struct State {
    /// The latest failure; nil while the server answers.
    var failure: PostgreSQLError?
    /// Whether a caller is finding out whether it answers again.
    var isBeingChecked = false
  }

  private let state = Mutex(State())

  /// Returns if the caller may open a connection: anyone, or during an outage the one who finds out
  /// whether it's over.
  ///
  /// - Throws: The latest failure, while someone else is finding out.
  func check() throws(PostgreSQLError) {
    let failure = state.withLock { state -> PostgreSQLError? in
      guard let failure = state.failure else { return nil }
      guard !state.isBeingChecked else { return failure }
      state.isBeingChecked = true
      return nil
    }
    if let failure { throw failure }
  }

  /// Notes that the server didn't answer.
  func begin(_ failure: PostgreSQLError) {
    state.withLock { $0 = State(failure: failure) }
  }

  /// Notes that the server answered.
  func end() {
    state.withLock { $0 = State() }
  }
}
