/// The estimated clock drift of a user's device, based on recent code attempts.
public struct ClockDrift: Sendable, Equatable {
  /// The drift in 30-second intervals, negative if the clock is slow.
  public let steps: Int

  public var seconds: Int { abs(steps) * 30 }
  public var isSlow: Bool { steps < 0 }

  /// The minimum drift, in intervals, that typing time can't explain.
  public static let least = 2

  /// Estimates the drift from the newest code attempts, newest first; nil if they don't agree.
  ///
  /// A single near miss may be a guess: 21 of a million codes are near. Two different codes of the
  /// same factor with the same drift aren't guesses.
  public init?(_ codeAttempts: [CodeAttempt]) {
    let near = codeAttempts.filter(Self.isNear)
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

  /// Returns true for a code of an app that matched an interval near the current one.
  static func isNear(_ codeAttempt: CodeAttempt) -> Bool {
    guard !codeAttempt.way.isSent, codeAttempt.distance != nil else { return false }
    return [.accepted, .late, .early].contains(codeAttempt.result)
  }

  public init(steps: Int) { self.steps = steps }
}

extension CodeAttempt {
  /// The drift indicated by this attempt alone; nil if it indicates none.
  ///
  /// An accepted code indicates drift, and so does a code outside the accepted intervals if a
  /// correct code followed soon after.
  public var drift: ClockDrift? {
    guard !way.isSent, let distance, abs(distance) >= ClockDrift.least else { return nil }
    switch result {
    case .accepted: return ClockDrift(steps: distance)
    case .late, .early: return isConfirmed ? ClockDrift(steps: distance) : nil
    default: return nil
    }
  }
}
