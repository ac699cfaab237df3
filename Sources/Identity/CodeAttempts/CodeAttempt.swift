public import OTP

/// What became of a code that a user gave, without the code.
public struct CodeAttempt: Sendable {
  /// What a code was given for.
  public enum Way: String, Sendable, CaseIterable {
    /// A sign-in with a code of an authenticator app.
    case app
    /// A sign-in with a code that was sent to a phone.
    case phone
    /// The enrollment of an authenticator app.
    case enrollment
    /// The enrollment of a phone, with a code that was sent to it.
    case phoneEnrollment = "phone-enrollment"

    /// Whether the code was sent, and not made by an app.
    public var isSent: Bool { self == .phone || self == .phoneEnrollment }
  }

  /// What became of it.
  public enum Result: String, Sendable, CaseIterable {
    /// It was right.
    case accepted
    /// It was right and had been used already.
    case used
    /// It was right and older than one that had been used.
    case older
    /// It was that of a step too long ago.
    case late
    /// It was that of a step too far ahead.
    case early
    /// It was none of those near now.
    case wrong
    /// It was no code at all.
    case unreadable
    /// A code that was sent was too old, used, or tried too often.
    case expired
    /// It was not looked at, since too many before it were wrong.
    case blocked
    /// It was not looked at, since codes are closed until somebody unlocks them.
    case closed
    /// It was right, and did not count, since the factor is suspended.
    case suspended
    /// It was a temporary code, and right.
    case temporary
    /// It was a recovery code, and right.
    case recovery

    /// Whether somebody was let in by it.
    public var isSuccess: Bool {
      switch self {
      case .accepted, .temporary, .recovery: true
      default: false
      }
    }
  }

  /// When; two of one account are never of one moment.
  public let at: Instant
  /// What for.
  public let way: Way
  /// What became of it.
  public let result: Result
  /// Which factor; nil when it was not enrolled yet.
  public let enrollment: ID<Factor>?
  /// The window that was in force; nil for what has none.
  public let window: Window?
  /// How many steps of 30 s from now the code was, negative when late; nil when it was none near.
  public let distance: Int?
  /// The time step of the code; nil when it was none near.
  public let step: Int64?
  /// Whether the user gave a right code soon after one that was beyond the window, so that it was
  /// no guess.
  public let isConfirmed: Bool
  /// How many such codes came one after the other.
  public let times: Int
  /// Where it came from.
  public let origin: RequestOrigin
}

/// What a look at a code has found.
struct CodeFinding: Sendable, Equatable {
  var result: CodeAttempt.Result
  var distance: Int?
  var step: Int64?

  init(_ result: CodeAttempt.Result, distance: Int? = nil, step: Int64? = nil) {
    self.result = result
    self.distance = distance
    self.step = step
  }

  /// What a comparison has found; `lastStep` is the highest step that was accepted before.
  init(_ codeAttempt: CodeVerification, after lastStep: Int64?) {
    switch codeAttempt {
    case .accepted(let step, let offset): self.init(.accepted, distance: offset, step: step)
    case .replayed(let step, let offset):
      self.init(step == lastStep ? .used : .older, distance: offset, step: step)
    case .outside(let step, let offset):
      self.init(offset < 0 ? .late : .early, distance: offset, step: step)
    case .refused: self.init(.wrong)
    case .unreadable: self.init(.unreadable)
    }
  }
}
