import Synchronization

public struct ClockDoubt: Sendable, Equatable {
  /// The expected time: the newest stored time, the time by the steady clock, or that of the
  /// database's server.
  public let expected: Instant
  public let shown: Instant
  /// Whether only the clock of the database's server differs, which may itself be wrong.
  public var isByDatabase = false

  public var isBehind: Bool { shown < expected }
}

/// The time that the server expects: the clock's, unless it's doubted or jumped since its check.
package final class ExpectedTime: Sendable {
  private struct State {
    var doubt: ClockDoubt?
    /// Returns the doubt about a time that the clock shows until the next check.
    var check: @Sendable (Instant) -> ClockDoubt? = { _ in nil }
    var changes = 0
  }

  private let state = Mutex(State())

  package init() {}

  func set(_ doubt: ClockDoubt?, check: @escaping @Sendable (Instant) -> ClockDoubt?) {
    state.withLock { state in
      if (state.doubt == nil) != (doubt == nil) { state.changes += 1 }
      (state.doubt, state.check) = (doubt, check)
    }
  }

  var isDoubted: Bool { state.withLock { $0.doubt != nil } }

  /// How often doubt began or ended: what was past before may be in the future after it.
  var changes: Int { state.withLock { $0.changes } }

  /// Returns the expected time when the clock shows `now`.
  func at(_ now: Instant) -> Instant {
    let (doubt, check) = state.withLock { ($0.doubt, $0.check) }
    return (doubt ?? check(now))?.expected ?? now
  }
}
