import Database

extension CodeAttemptRecorder {
  /// Returns what a recorded code changes about whether the device's clock is off, to be set with the
  /// other columns of the account's row; empty for nearly every code.
  ///
  /// The first code on time clears the flag. It's set by the second code that shows the same drift,
  /// for which earlier codes are read: only after one that's off, while the flag isn't set.
  func clockFlag(
    after finding: CodeFinding, at: Int64, _ connection: borrowing Connection
  ) throws -> SQL {
    guard let distance = finding.distance else { return "" }
    let code = CodeAttempt(
      at: Instant(microseconds: at), way: way, result: finding.result, enrollment: enrollment,
      window: window, distance: distance, step: finding.step, isConfirmed: false, times: 1,
      origin: origin)
    guard ClockDrift.isNear(code) else { return "" }
    guard abs(distance) >= ClockDrift.least else {
      return account.isClockOff ? ", clock_off = 0" : ""
    }
    guard !account.isClockOff, let last = account.lastCodeAttemptAt else { return "" }
    let earlier = try CodeAttempts.list(
      account, from: last, limit: CodeAttempts.shown - 1, connection
    ).items
    return ClockDrift([code] + earlier) == nil ? "" : ", clock_off = 1"
  }
}
