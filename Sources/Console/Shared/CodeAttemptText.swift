import Identity
import Localization
import OTP

enum CodeAttemptText {
  static func number(_ codeAttempts: Int) -> Message {
    Message(
      one: "{count} code attempt", other: "{count} code attempts",
      ["count": .number(codeAttempts)])
  }

  static func sentence(_ codeAttempt: CodeAttempt) -> Message {
    let circumstance: Message? =
      switch codeAttempt.way {
      case .app, .phone: nil
      case .enrollment, .phoneEnrollment: Message("during enrollment")
      case .resynchronization: Message("for resynchronization")
      }
    return facts(codeAttempt, times: codeAttempt.times, circumstance)
  }

  /// Returns the result, what it says about the clock, and how often it occurred, in a list.
  private static func facts(
    _ codeAttempt: CodeAttempt, times: Int, _ circumstance: Message? = nil
  ) -> Message {
    let facts = [
      result(codeAttempt), codeAttempt.drift.map(clock),
      times > 1
        ? Message(one: "{count} time", other: "{count} times", ["count": .number(times)]) : nil,
      circumstance,
    ]
    return .value(.sequence(facts.compactMap { $0 }))
  }

  static func sentence(_ run: CodeAttemptRun) -> Message {
    if run.attempts.count == 1 { return sentence(run.newest) }
    let count = Message.Value.number(run.count)
    switch run.newest.result {
    case .accepted:
      return run.newest.way.isSent
        ? Message(
          one: "{count} accepted SMS code", other: "{count} accepted SMS codes", ["count": count])
        : Message(one: "{count} accepted code", other: "{count} accepted codes", ["count": count])
    case .temporary:
      return Message(
        one: "{count} accepted temporary code",
        other: "{count} accepted temporary codes", ["count": count])
    case .recovery:
      return Message(
        one: "{count} accepted recovery code",
        other: "{count} accepted recovery codes", ["count": count])
    default:
      return facts(run.newest, times: run.count)
    }
  }

  private static func result(_ codeAttempt: CodeAttempt) -> Message {
    let isSent = codeAttempt.way.isSent
    switch codeAttempt.result {
    case .accepted:
      return isSent ? Message("Accepted (SMS)") : accepted(codeAttempt)
    case .used: return Message("Already used")
    case .older: return Message("Older than the last accepted code")
    case .late: return expired(codeAttempt)
    case .early: return notYetValid(codeAttempt)
    case .wrong:
      return isSent ? Message("Incorrect code (SMS)") : Message("Incorrect code")
    case .unreadable: return Message("Invalid format: codes have six digits")
    case .expired: return Message("SMS code expired, already used, or tried too many times")
    case .blocked: return Message("Not checked: too many incorrect codes")
    case .closed: return Message("Not checked: codes are locked")
    case .suspended: return Message("Correct code, but the factor is suspended")
    case .temporary: return Message("Accepted (temporary code)")
    case .recovery: return Message("Accepted (recovery code)")
    }
  }

  private static func accepted(_ codeAttempt: CodeAttempt) -> Message {
    guard let distance = codeAttempt.distance, distance != 0 else {
      return Message("Accepted")
    }
    let steps = Message.Value.number(abs(distance))
    return distance < 0
      ? Message(
        one: "Accepted: {count} interval late", other: "Accepted: {count} intervals late",
        ["count": steps])
      : Message(
        one: "Accepted: {count} interval early", other: "Accepted: {count} intervals early",
        ["count": steps])
  }

  private static func expired(_ codeAttempt: CodeAttempt) -> Message {
    guard let window = codeAttempt.window else { return Message("Expired") }
    let limit = Message.Value.number(window.adjacentIntervals)
    guard let distance = codeAttempt.distance else {
      return Message("Expired (limit {limit})", ["limit": limit])
    }
    return Message(
      one: "Expired: {count} interval late (limit {limit})",
      other: "Expired: {count} intervals late (limit {limit})",
      ["count": .number(abs(distance)), "limit": limit])
  }

  private static func notYetValid(_ codeAttempt: CodeAttempt) -> Message {
    guard let window = codeAttempt.window else { return Message("Not yet valid") }
    let limit = Message.Value.number(window.adjacentIntervals)
    guard let distance = codeAttempt.distance else {
      return Message("Not yet valid (limit {limit})", ["limit": limit])
    }
    return Message(
      one: "Not yet valid: {count} interval early (limit {limit})",
      other: "Not yet valid: {count} intervals early (limit {limit})",
      ["count": .number(abs(distance)), "limit": limit])
  }

  /// Returns the drift of a clock for a chip: `clock about 90 s slow`.
  static func clock(_ drift: ClockDrift) -> Message {
    drift.isSlow
      ? Message("clock about {time} slow", ["time": time(drift)])
      : Message("clock about {time} fast", ["time": time(drift)])
  }

  private static func time(_ drift: ClockDrift) -> Message.Value {
    .message(
      drift.seconds < 120
        ? Message("{seconds}\u{A0}s", ["seconds": .number(drift.seconds)])
        : Formatted.duration(seconds: drift.seconds))
  }

  static func finding(_ drift: ClockDrift) -> Message {
    drift.isSlow
      ? Message("The phone’s clock is about {time} slow", ["time": time(drift)])
      : Message("The phone’s clock is about {time} fast", ["time": time(drift)])
  }

  /// Returns that codes of a factor are rejected, since its clock is off by more than the window.
  static func rejection(of factor: Factor, _ drift: ClockDrift, _ window: Window) -> Message {
    let (name, limit) = (FactorText.name(factor), Message.Value.number(window.lateness))
    return drift.isSlow
      ? Message(
        """
        Codes from “{factor}” will be rejected: its clock is about {time} slow (limit \
        {limit}\u{A0}s).
        """, ["factor": name, "time": time(drift), "limit": limit])
      : Message(
        """
        Codes from “{factor}” will be rejected: its clock is about {time} fast (limit \
        {limit}\u{A0}s).
        """, ["factor": name, "time": time(drift), "limit": limit])
  }

  /// Returns that a removal may not be needed, since only the device's clock is off.
  static func alternative(_ drift: ClockDrift) -> Message {
    drift.isSlow
      ? Message(
        """
        This device works, but its clock is about {time} slow. If the caller sets the clock, \
        nothing has to be removed.
        """, ["time": time(drift)])
      : Message(
        """
        This device works, but its clock is about {time} fast. If the caller sets the clock, \
        nothing has to be removed.
        """, ["time": time(drift)])
  }

  static let clockAdvice = Message(
    "Turn on automatic date and time, then enter the next code.")

  static func evidence(_ evidence: DriftEvidence) -> Message {
    let (least, most) = (evidence.intervals.lowerBound, evidence.intervals.upperBound)
    let count = Message.Value.number(evidence.count)
    let intervals: Message.Value =
      least == most
      ? .number(most)
      : .message(Message("{least}–{most}", ["least": .number(least), "most": .number(most)]))
    return evidence.drift.isSlow
      ? Message(
        one: "Last {count} code, intervals late: {intervals}",
        other: "Last {count} codes, intervals late: {intervals}",
        ["count": count, "intervals": intervals])
      : Message(
        one: "Last {count} code, intervals early: {intervals}",
        other: "Last {count} codes, intervals early: {intervals}",
        ["count": count, "intervals": intervals])
  }

  /// Returns what a lock means for temporary and recovery codes; nil if codes aren't locked.
  static func waiting(_ account: Account, at now: Instant, _ times: Times) -> Message? {
    let wrong = Message.Value.number(account.wrongCodes)
    switch account.codeLock(at: now) {
    case .open: return nil
    case .blocked(let until):
      return Message(
        one: """
          Codes are blocked until {time} after {count} incorrect code in a row. Temporary and \
          recovery codes don’t work either unless an administrator unlocks the codes.
          """,
        other: """
          Codes are blocked until {time} after {count} incorrect codes in a row. Temporary and \
          recovery codes don’t work either unless an administrator unlocks the codes.
          """, ["time": times.value(until), "count": wrong])
    case .closed:
      return Message(
        one: """
          Codes are locked after {count} incorrect code in a row. Temporary and recovery codes \
          don’t work either until an administrator unlocks the codes.
          """,
        other: """
          Codes are locked after {count} incorrect codes in a row. Temporary and recovery codes \
          don’t work either until an administrator unlocks the codes.
          """, ["count": wrong])
    }
  }

  /// Returns that codes are locked or blocked, as a heading.
  static func lock(_ account: Account, at now: Instant, _ times: Times) -> Message {
    let wrong = Message.Value.number(account.wrongCodes)
    guard case .blocked(let until) = account.codeLock(at: now) else {
      return Message(
        one: "Codes are locked after {count} incorrect code in a row",
        other: "Codes are locked after {count} incorrect codes in a row", ["count": wrong])
    }
    return Message(
      one: "Codes are blocked until {time} after {count} incorrect code in a row",
      other: "Codes are blocked until {time} after {count} incorrect codes in a row",
      ["time": times.value(until), "count": wrong])
  }
}

/// Consecutive code attempts with the same result, newest first, which one row of a list shows.
struct CodeAttemptRun {
  private(set) var attempts: [CodeAttempt]

  var newest: CodeAttempt { attempts[0] }
  var oldest: CodeAttempt { attempts[attempts.count - 1] }
  var isAccepted: Bool { newest.result.isSuccess }
  /// The number of codes, including those that share a record.
  var count: Int { attempts.reduce(0) { $0 + $1.times } }
  /// The distance of all codes in intervals; nil if they differ or are unknown.
  var distance: Int? {
    attempts.allSatisfy { $0.distance == newest.distance } ? newest.distance : nil
  }

  /// Divides code attempts, newest first, into runs.
  ///
  /// Accepted codes belong together whatever their distance; rejected ones only if they say the
  /// same about the phone.
  static func all(_ codeAttempts: [CodeAttempt]) -> [CodeAttemptRun] {
    var runs: [CodeAttemptRun] = []
    for codeAttempt in codeAttempts {
      if let last = runs.indices.last, runs[last].isContinued(by: codeAttempt) {
        runs[last].attempts.append(codeAttempt)
      } else {
        runs.append(CodeAttemptRun(attempts: [codeAttempt]))
      }
    }
    return runs
  }

  /// Divides the code attempts of a pool's users, newest first, into runs of one user each.
  ///
  /// Accepted codes stay apart if they were early or late by another interval.
  static func all(_ items: [UserCodeAttempt]) -> [(user: UserCodeAttempt, run: CodeAttemptRun)] {
    var runs: [(user: UserCodeAttempt, run: CodeAttemptRun)] = []
    for item in items {
      let next = item.attempt
      if let (user, run) = runs.last, user.account == item.account, run.isContinued(by: next),
        run.newest.distance == next.distance,
        run.newest.origin.address == next.origin.address
      {
        runs[runs.count - 1].run.attempts.append(next)
      } else {
        runs.append((item, CodeAttemptRun(attempts: [next])))
      }
    }
    return runs
  }

  private func isContinued(by next: CodeAttempt) -> Bool {
    guard newest.result == next.result, newest.way == next.way,
      newest.enrollment == next.enrollment
    else { return false }
    return isAccepted
      || newest.distance == next.distance && newest.window == next.window
        && newest.isConfirmed == next.isConfirmed
  }
}

enum AttemptResults: String, CaseIterable, Sendable {
  case rejected, accepted, outside, incorrect, locked

  var text: Message {
    switch self {
    case .rejected: Message("Rejected")
    case .accepted: Message("Accepted")
    case .outside: Message("Outside the window")
    case .incorrect: Message("Incorrect or reused")
    case .locked: Message("Locked")
    }
  }

  var outcomes: Set<CodeAttempt.Outcome> {
    switch self {
    case .rejected: [.outside, .incorrect, .locked, .other]
    case .accepted: [.accepted]
    case .outside: [.outside]
    case .incorrect: [.incorrect]
    case .locked: [.locked, .other]
    }
  }
}

extension EmptyView {
  /// That there were no code attempts in so many days.
  init(codeAttemptsOf pool: Pool, days: Int) {
    self.init(
      heading: Message(
        one: "No code attempts in the last {count} day",
        other: "No code attempts in the last {count} days", ["count": .number(days)]),
      sentence: Message(
        "Shows the result of each code: accepted, expired, already used, or incorrect."),
      more: Link(text: Message("How users enroll"), href: pool.guides()))
  }
}
