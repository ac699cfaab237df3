/// How far the clock of a user's device is off, as far as the last codes tell.
public struct ClockDrift: Sendable, Equatable {
  /// How many steps of 30 s, negative when the clock is slow.
  public let steps: Int

  /// How many seconds the clock is off, about.
  public var seconds: Int { abs(steps) * 30 }
  /// Whether the clock is slow, and not fast.
  public var isSlow: Bool { steps < 0 }

  /// From how many steps on a delay is not explained by the time that typing takes.
  public static let least = 2

  /// Looks at the newest verdicts, the newest first; nil when they do not agree on a drift.
  ///
  /// One near miss may be a guess: of a million codes 21 are near. Two that tell the same are none,
  /// when they are different codes of the same factor.
  public init?(_ codeAttempts: [CodeAttempt]) {
    let near = codeAttempts.filter { codeAttempt in
      guard !codeAttempt.way.isSent, codeAttempt.distance != nil else { return false }
      return [.accepted, .late, .early].contains(codeAttempt.result)
    }
    guard let last = near.first, let steps = last.distance, abs(steps) >= Self.least else {
      return nil
    }
    let before = near.dropFirst().first { other in
      other.step != last.step && other.enrollment == last.enrollment
    }
    guard let other = before?.distance, abs(other) >= Self.least, abs(other - steps) <= 1 else {
      return nil
    }
    self.steps = steps
  }

  /// A drift of so many steps.
  public init(steps: Int) { self.steps = steps }
}

extension CodeAttempt {
  /// How far the clock was off by this code alone; nil when it does not tell.
  ///
  /// A right code tells; one beyond the window does when a right one followed it soon.
  public var drift: ClockDrift? {
    guard !way.isSent, let distance, abs(distance) >= ClockDrift.least else { return nil }
    switch result {
    case .accepted: return ClockDrift(steps: distance)
    case .late, .early: return isConfirmed ? ClockDrift(steps: distance) : nil
    default: return nil
    }
  }
}
