import Identity
import OTP

/// The results of code attempts, in sentences for a support agent on the phone.
enum CodeAttemptText {
  /// Returns the result of one code attempt.
  static func sentence(_ codeAttempt: CodeAttempt) -> String {
    let what = [result(codeAttempt), repetition(codeAttempt)].compactMap { $0 }.joined(
      separator: ", ")
    let isEnrolling = codeAttempt.way == .enrollment || codeAttempt.way == .phoneEnrollment
    return isEnrolling ? "\(what), during enrollment" : what
  }

  private static func result(_ codeAttempt: CodeAttempt) -> String {
    switch codeAttempt.result {
    case .accepted:
      let way = codeAttempt.way.isSent ? "accepted (SMS)" : "accepted"
      guard let distance = codeAttempt.distance, distance != 0 else { return way }
      return "\(way): \(steps(distance))\(clock(codeAttempt))"
    case .used: return "already used"
    case .older: return "older than the last accepted code"
    case .late, .early: return "\(beyond(codeAttempt))\(clock(codeAttempt))"
    case .wrong: return codeAttempt.way.isSent ? "incorrect code (SMS)" : "incorrect code"
    case .unreadable: return "invalid format: codes have six digits"
    case .expired: return "SMS code expired, already used, or tried too often"
    case .blocked: return "not checked: too many incorrect codes"
    case .closed: return "not checked: codes are locked"
    case .suspended: return "correct code, but the factor is suspended"
    case .temporary: return "accepted (temporary code)"
    case .recovery: return "accepted (recovery code)"
    }
  }

  private static func beyond(_ codeAttempt: CodeAttempt) -> String {
    let age = codeAttempt.result == .late ? "expired" : "not yet valid"
    let accepted: String
    switch codeAttempt.window?.adjacentIntervals {
    case let intervals?: accepted = "limit \(intervals)"
    case nil: return age
    }
    guard let distance = codeAttempt.distance else { return "\(age) (\(accepted))" }
    return "\(age): \(steps(distance)) (\(accepted))"
  }

  /// Returns the distance in intervals: `3 intervals late`.
  private static func steps(_ distance: Int) -> String {
    Words.count(abs(distance), "interval ", "intervals ") + (distance < 0 ? "late" : "early")
  }

  private static func clock(_ codeAttempt: CodeAttempt) -> String {
    codeAttempt.drift.map { "; \(clock($0))" } ?? ""
  }

  /// Returns a clause about the clock: `the phone’s clock is about 90 s slow`.
  static func clock(_ drift: ClockDrift) -> String {
    "the phone’s clock is about \(amount(drift))"
  }

  /// Returns the drift of a clock: `90 s slow`.
  static func amount(_ drift: ClockDrift) -> String {
    let time =
      drift.seconds < 120 ? "\(drift.seconds) s" : Words.duration(seconds: drift.seconds)
    return "\(time) \(drift.isSlow ? "slow" : "fast")"
  }

  private static func repetition(_ codeAttempt: CodeAttempt) -> String? {
    codeAttempt.times > 1 ? "\(Words.number(codeAttempt.times)) times" : nil
  }

  /// Returns what to tell a caller whose clock is off.
  static func advice(_ drift: ClockDrift) -> String {
    "Based on recent codes, \(clock(drift)). Ask the caller to set the phone’s date and time to automatic, then enter the next code."
  }

  /// Returns what a lock means for temporary and recovery codes; nil if codes aren't locked.
  static func waiting(_ account: Account, at now: Instant, _ times: Times) -> String? {
    let wrong = Words.count(account.wrongCodes, "incorrect code", "incorrect codes")
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return
        "Codes are blocked until \(times.words(until)) after \(wrong) in a row. This includes temporary and recovery codes unless an administrator unlocks the codes."
    case .closed:
      return
        "Codes are locked after \(wrong) in a row. This includes temporary and recovery codes until an administrator unlocks the codes."
    }
  }

  /// Returns why codes are locked and when that ends; nil if they aren't.
  static func lock(_ account: Account, at now: Instant, _ times: Times) -> String? {
    let wrong = Words.count(account.wrongCodes, "incorrect code", "incorrect codes")
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return "Codes are blocked until \(times.words(until)) after \(wrong) in a row."
    case .closed:
      return
        "Codes are locked after \(wrong) in a row, until an administrator unlocks the codes or removes a second factor."
    }
  }
}
