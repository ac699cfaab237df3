import OTP
import Synchronization

/// The time that the server expects: the clock's, unless it's doubted.
package final class ExpectedTime: Sendable {
  private struct State {
    var doubt: ClockDoubt?
    var changes = 0
  }

  private let state = Mutex(State())

  package init() {}

  func set(_ doubt: ClockDoubt?) {
    state.withLock { state in
      if (state.doubt == nil) != (doubt == nil) { state.changes += 1 }
      state.doubt = doubt
    }
  }

  var isDoubted: Bool { state.withLock { $0.doubt != nil } }

  /// How often doubt began or ended: what was past before may be in the future after it.
  var changes: Int { state.withLock { $0.changes } }

  /// Returns the expected time when the clock shows `now`.
  func at(_ now: Instant) -> Instant { state.withLock { $0.doubt?.expected } ?? now }
}

extension UsedSteps {
  mutating func accept(_ step: Int64, at now: Instant, expecting expected: ExpectedTime) {
    accept(
      step, at: now.seconds / TOTPFactor.period,
      expected: expected.at(now).seconds / TOTPFactor.period)
  }
}
