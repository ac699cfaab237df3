import OTP
import Synchronization

/// The time that the server expects: the clock's, unless it's doubted.
package final class ExpectedTime: Sendable {
  private let doubt = Mutex<ClockDoubt?>(nil)

  package init() {}

  /// Remembers why the clock isn't trusted; nil if it is.
  func set(_ doubt: ClockDoubt?) { self.doubt.withLock { $0 = doubt } }

  /// Returns the expected time when the clock shows `now`.
  func at(_ now: Instant) -> Instant { doubt.withLock { $0?.expected } ?? now }
}

extension UsedSteps {
  /// Marks the step of an accepted code as used.
  mutating func accept(_ step: Int64, at now: Instant, expecting expected: ExpectedTime) {
    accept(
      step, at: now.seconds / TOTPFactor.period,
      expected: expected.at(now).seconds / TOTPFactor.period)
  }
}
