public import Database
public import OTP

/// An attempt to enter a code and its result, without the code.
public struct CodeAttempt: Sendable {
  /// The purpose of a code.
  public enum Way: String, Sendable, CaseIterable, SQLConvertible {
    /// Sign-in with an authenticator app.
    case app
    /// Sign-in with a code sent to a phone.
    case phone
    /// Enrollment of an authenticator app.
    case enrollment
    case phoneEnrollment = "phone-enrollment"
    /// Two consecutive codes of an authenticator app, read to an agent.
    case resynchronization

    public var isSent: Bool { self == .phone || self == .phoneEnrollment }
  }

  public enum Result: String, Sendable, CaseIterable, SQLConvertible {
    case accepted
    /// The code was correct but already used.
    case used
    /// The code was correct but older than one already used.
    case older
    /// The code's interval is too far in the past.
    case late
    /// The code's interval is too far in the future.
    case early
    /// The code matches no interval near the current one.
    case wrong
    /// The text isn't a code.
    case unreadable
    /// A sent code was expired, already used, or had too many attempts.
    case expired
    /// The code wasn't checked because there were too many incorrect codes before it.
    case blocked
    /// The code wasn't checked because codes are locked until an administrator unlocks them.
    case closed
    /// The code was correct but not accepted because the factor is suspended.
    case suspended
    /// A temporary code was accepted.
    case temporary
    /// A recovery code was accepted.
    case recovery

    public var isSuccess: Bool {
      switch self {
      case .accepted, .temporary, .recovery: true
      default: false
      }
    }
  }

  /// The time, unique within an account.
  public let at: Instant
  public let way: Way
  public let result: Result
  /// The factor; nil if it wasn't enrolled yet.
  public let enrollment: ID<Factor>?
  /// The accepted intervals at the time; nil if they don't apply.
  public let window: Window?
  /// The code's distance from the current time in 30-second intervals, negative if late; nil if it
  /// matched no near interval.
  public let distance: Int?
  public let step: Int64?
  /// Whether a correct code followed soon after this one, which was outside the accepted intervals,
  /// so it wasn't a guess.
  public let isConfirmed: Bool
  /// The number of consecutive attempts that this record represents.
  public let times: Int
  public let origin: RequestOrigin
}

package struct CodeFinding: Sendable, Equatable {
  package var result: CodeAttempt.Result
  package var distance: Int?
  var step: Int64?

  package init(_ result: CodeAttempt.Result, distance: Int? = nil, step: Int64? = nil) {
    self.result = result
    self.distance = distance
    self.step = step
  }

  /// Creates a finding from a TOTP verification; `used` is what was used before.
  init(_ codeAttempt: CodeVerification, after used: UsedSteps) {
    switch codeAttempt {
    case .accepted(let step, let offset): self.init(.accepted, distance: offset, step: step)
    case .replayed(let step, let offset):
      self.init(used.endsWith(step) ? .used : .older, distance: offset, step: step)
    case .outside(let step, let offset):
      self.init(offset < 0 ? .late : .early, distance: offset, step: step)
    case .refused: self.init(.wrong)
    case .unreadable: self.init(.unreadable)
    }
  }
}

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
