import Identity
import Localization
import OTP

enum CodeAttemptText {
  static func sentence(_ codeAttempt: CodeAttempt) -> Message {
    let result = result(codeAttempt)
    let isEnrolling = codeAttempt.way == .enrollment || codeAttempt.way == .phoneEnrollment
    let times = Message.Value.number(codeAttempt.times)
    switch (codeAttempt.times > 1, isEnrolling) {
    case (false, false): return result
    case (false, true):
      return Message("code-attempts.result-while-enrolling", ["result": .message(result)])
    case (true, false):
      return Message(
        "code-attempts.result-repeated", ["count": times, "result": .message(result)])
    case (true, true):
      return Message(
        "code-attempts.result-repeated-while-enrolling",
        ["count": times, "result": .message(result)])
    }
  }

  static func sentence(_ run: CodeAttemptRun) -> Message {
    if run.attempts.count == 1 { return sentence(run.newest) }
    let count = Message.Value.number(run.count)
    switch run.newest.result {
    case .accepted:
      return run.newest.way.isSent
        ? Message("code-attempts.accepted-sms-codes", ["count": count])
        : Message("code-attempts.accepted-codes", ["count": count])
    case .temporary: return Message("code-attempts.accepted-temporary-codes", ["count": count])
    case .recovery: return Message("code-attempts.accepted-recovery-codes", ["count": count])
    default:
      return Message(
        "code-attempts.result-repeated",
        ["count": count, "result": .message(result(run.newest))])
    }
  }

  private static func result(_ codeAttempt: CodeAttempt) -> Message {
    let isSent = codeAttempt.way.isSent
    switch codeAttempt.result {
    case .accepted:
      return isSent ? Message("code-attempts.accepted-sms") : accepted(codeAttempt)
    case .used: return Message("code-attempts.already-used")
    case .older: return Message("code-attempts.older")
    case .late: return withClock(expired(codeAttempt), codeAttempt)
    case .early: return withClock(notYetValid(codeAttempt), codeAttempt)
    case .wrong:
      return isSent ? Message("code-attempts.incorrect-sms") : Message("code-attempts.incorrect")
    case .unreadable: return Message("code-attempts.unreadable")
    case .expired: return Message("code-attempts.expired-sms")
    case .blocked: return Message("code-attempts.blocked")
    case .closed: return Message("code-attempts.closed")
    case .suspended: return Message("code-attempts.suspended")
    case .temporary: return Message("code-attempts.accepted-temporary-code")
    case .recovery: return Message("code-attempts.accepted-recovery-code")
    }
  }

  private static func accepted(_ codeAttempt: CodeAttempt) -> Message {
    guard let distance = codeAttempt.distance, distance != 0 else {
      return Message("code-attempts.accepted")
    }
    let steps = Message.Value.number(abs(distance))
    return withClock(
      distance < 0
        ? Message("code-attempts.accepted-late", ["count": steps])
        : Message("code-attempts.accepted-early", ["count": steps]), codeAttempt)
  }

  private static func expired(_ codeAttempt: CodeAttempt) -> Message {
    guard let window = codeAttempt.window else { return Message("code-attempts.expired") }
    let limit = Message.Value.number(window.adjacentIntervals)
    guard let distance = codeAttempt.distance else {
      return Message("code-attempts.expired-with-limit", ["limit": limit])
    }
    return Message(
      "code-attempts.expired-by", ["count": .number(abs(distance)), "limit": limit])
  }

  private static func notYetValid(_ codeAttempt: CodeAttempt) -> Message {
    guard let window = codeAttempt.window else { return Message("code-attempts.not-yet-valid") }
    let limit = Message.Value.number(window.adjacentIntervals)
    guard let distance = codeAttempt.distance else {
      return Message("code-attempts.not-yet-valid-with-limit", ["limit": limit])
    }
    return Message(
      "code-attempts.not-yet-valid-by", ["count": .number(abs(distance)), "limit": limit])
  }

  private static func withClock(_ result: Message, _ codeAttempt: CodeAttempt) -> Message {
    guard let drift = codeAttempt.drift else { return result }
    let time = time(drift)
    return drift.isSlow
      ? Message(
        "code-attempts.result-with-slow-clock", ["result": .message(result), "time": time])
      : Message(
        "code-attempts.result-with-fast-clock", ["result": .message(result), "time": time])
  }

  /// Returns the drift of a clock for a chip: `clock about 90 s slow`.
  static func clock(_ drift: ClockDrift) -> Message {
    drift.isSlow
      ? Message("code-attempts.clock-slow", ["time": time(drift)])
      : Message("code-attempts.clock-fast", ["time": time(drift)])
  }

  private static func time(_ drift: ClockDrift) -> Message.Value {
    .message(
      drift.seconds < 120
        ? Message("code-attempts.seconds", ["seconds": .number(drift.seconds)])
        : Formatted.duration(seconds: drift.seconds))
  }

  static func finding(_ drift: ClockDrift) -> Message {
    drift.isSlow
      ? Message("code-attempts.slow-clock", ["time": time(drift)])
      : Message("code-attempts.fast-clock", ["time": time(drift)])
  }

  static let clockAdvice = Message("code-attempts.set-clock")

  static func evidence(_ evidence: DriftEvidence) -> Message {
    let (least, most) = (evidence.intervals.lowerBound, evidence.intervals.upperBound)
    let count = Message.Value.number(evidence.count)
    let intervals = Message.Value.message(intervals(least, most))
    return evidence.drift.isSlow
      ? Message("code-attempts.last-codes-late", ["count": count, "intervals": intervals])
      : Message("code-attempts.last-codes-early", ["count": count, "intervals": intervals])
  }

  private static func intervals(_ least: Int, _ most: Int) -> Message {
    least == most
      ? Message("code-attempts.count-of-intervals", ["count": .number(most)])
      : Message(
        "code-attempts.range-of-intervals", ["least": .number(least), "most": .number(most)])
  }

  /// Returns what a lock means for temporary and recovery codes; nil if codes aren't locked.
  static func waiting(_ account: Account, at now: Instant, _ times: Times) -> Message? {
    let wrong = Message.Value.number(account.wrongCodes)
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return Message(
        "code-attempts.waiting-while-blocked", ["time": times.value(until), "count": wrong])
    case .closed: return Message("code-attempts.waiting-while-locked", ["count": wrong])
    }
  }

  static func lock(_ account: Account, at now: Instant, _ times: Times) -> Message? {
    let wrong = Message.Value.number(account.wrongCodes)
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return Message("code-attempts.codes-blocked", ["time": times.value(until), "count": wrong])
    case .closed: return Message("code-attempts.codes-locked", ["count": wrong])
    }
  }
}
