import Identity

/// What became of codes, in sentences for somebody with a caller on the line.
enum CodeAttemptText {
  /// What became of one code.
  static func sentence(_ codeAttempt: CodeAttempt) -> String {
    let what = [result(codeAttempt), repetition(codeAttempt)].compactMap { $0 }.joined(
      separator: ", ")
    let isEnrolling = codeAttempt.way == .enrollment || codeAttempt.way == .phoneEnrollment
    return isEnrolling ? "while enrolling: \(what)" : what
  }

  private static func result(_ codeAttempt: CodeAttempt) -> String {
    switch codeAttempt.result {
    case .accepted:
      let way = codeAttempt.way.isSent ? "right code by SMS" : "right code"
      guard let distance = codeAttempt.distance, distance != 0 else { return way }
      return "\(way), \(steps(distance))\(clock(codeAttempt))"
    case .used: return "used already"
    case .older: return "older than the last code that counted"
    case .late, .early: return "\(beyond(codeAttempt))\(clock(codeAttempt))"
    case .wrong: return codeAttempt.way.isSent ? "wrong code by SMS" : "wrong, nothing near it"
    case .unreadable: return "not a code: codes have six digits"
    case .expired: return "code by SMS too old, used, or tried too often"
    case .blocked: return "not looked at: too many wrong codes before"
    case .closed: return "not looked at: locked until somebody unlocks it"
    case .suspended: return "right, but the factor is suspended"
    case .temporary: return "right temporary code"
    case .recovery: return "right recovery code"
    }
  }

  private static func beyond(_ codeAttempt: CodeAttempt) -> String {
    let age = codeAttempt.result == .late ? "too old" : "too new"
    let accepted: String
    switch codeAttempt.window?.adjacentIntervals {
    case 0: accepted = "none is accepted"
    case 1: accepted = "1 is accepted"
    case let intervals?: accepted = "\(intervals) are accepted"
    case nil: return age
    }
    guard let distance = codeAttempt.distance else { return "\(age): \(accepted)" }
    return "\(age): \(steps(distance)), \(accepted)"
  }

  /// `3 steps late`.
  private static func steps(_ distance: Int) -> String {
    Words.count(abs(distance), "step ", "steps ") + (distance < 0 ? "late" : "early")
  }

  private static func clock(_ codeAttempt: CodeAttempt) -> String {
    codeAttempt.drift.map { ": \(clock($0))" } ?? ""
  }

  /// `the phone’s clock is about 90 s slow`.
  static func clock(_ drift: ClockDrift) -> String {
    "the phone’s clock is about \(amount(drift))"
  }

  /// `90 s slow`.
  static func amount(_ drift: ClockDrift) -> String {
    let time =
      drift.seconds < 120 ? "\(drift.seconds) s" : Words.duration(seconds: drift.seconds)
    return "\(time) \(drift.isSlow ? "slow" : "fast")"
  }

  private static func repetition(_ codeAttempt: CodeAttempt) -> String? {
    codeAttempt.times > 1 ? "\(Words.number(codeAttempt.times)) times" : nil
  }

  /// What to tell a caller whose clock is off.
  static func advice(_ drift: ClockDrift) -> String {
    "The last codes agree: \(clock(drift)). Tell the caller to set date and time on the phone to automatic, and to take the next code."
  }

  /// What a lock means for temporary and recovery codes; nil when codes are looked at.
  static func waiting(_ account: Account, at now: Instant, _ times: Times) -> String? {
    let wrong = Words.count(account.wrongCodes, "wrong code", "wrong codes")
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return
        "After \(wrong) in a row none is looked at until \(times.words(until)). A temporary or recovery code waits as well, unless somebody unlocks the user."
    case .closed:
      return
        "Codes of this user are locked after \(wrong) in a row. A temporary or recovery code does not count either until somebody unlocks the user."
    }
  }

  /// Why no code is looked at, and when that ends; nil when codes are.
  static func lock(_ account: Account, at now: Instant, _ times: Times) -> String? {
    let wrong = Words.count(account.wrongCodes, "wrong code", "wrong codes")
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return "After \(wrong) in a row none is looked at until \(times.words(until))."
    case .closed:
      return
        "After \(wrong) in a row none is looked at any more. It ends when somebody unlocks the user, or removes a second factor."
    }
  }
}
