public import OTP

/// The state of multi-factor authentication or of one of its kinds.
public enum MFAState: Int, Sendable {
  /// Not given.
  case unspecified = 0
  /// Switched off.
  case disabled = 1
  /// Switched on.
  case enabled = 2
  /// Every user shall have it; recorded for applications, not enforced at sign-in.
  case mandatory = 3
}

/// The entry that switches one-time codes from authenticator apps on.
public struct TOTPConfiguration: Equatable, Sendable {
  /// The entry's state.
  ///
  /// Unspecified counts as switched on.
  public var state: MFAState
  /// The neighboring steps accepted on each side, 0 to 10.
  ///
  /// Nil, which is not 0, means 5 in force.
  public var adjacentIntervals: Int?

  /// Makes an entry.
  public init(state: MFAState, adjacentIntervals: Int?) {
    self.state = state
    self.adjacentIntervals = adjacentIntervals
  }
}

/// What a scope says about second factors: `mfa` of a project, `mfaConfig` of a tenant.
public struct MFAConfiguration: Equatable, Sendable {
  /// The top state, which governs SMS together with `smsEnabled`; nil when never set.
  public var state: MFAState?
  /// True when codes by SMS are among the enabled providers.
  public var smsEnabled: Bool
  /// The entry for one-time codes; nil when there is none, which means off.
  public var totp: TOTPConfiguration?

  /// Makes a configuration.
  public init(state: MFAState? = nil, smsEnabled: Bool = false, totp: TOTPConfiguration? = nil) {
    self.state = state
    self.smsEnabled = smsEnabled
    self.totp = totp
  }

  /// What a new project has: everything off.
  public static let initial = MFAConfiguration(state: .disabled)

  /// True when users may enroll authenticator apps and enrolled users are asked for a code.
  ///
  /// An entry whose state was not given counts as on, since the documentation's own call for a
  /// tenant switches TOTP on by such an entry.
  public var isTOTPOn: Bool {
    guard let totp else { return false }
    return totp.state != .disabled
  }

  /// True when the configuration switches codes by SMS on.
  ///
  /// The top state and the list of providers both have to say so.
  public var isSMSOn: Bool { smsEnabled && (state == .enabled || state == .mandatory) }

  /// True when users may enroll factors of a kind, and are asked for a code of those they have.
  public func isOn(_ kind: Factor.Kind) -> Bool {
    switch kind {
    case .totp: isTOTPOn
    case .phone: isSMSOn
    }
  }

  /// The kinds of factors that are on.
  var kinds: Set<Factor.Kind> { Set(Factor.Kind.allCases.filter(isOn)) }

  /// Switches codes by SMS on or off; what says so already stays as it is written.
  ///
  /// Switching off takes the provider out of the list and leaves the top state alone.
  public mutating func setSMS(_ isOn: Bool) {
    guard isOn != isSMSOn else { return }
    smsEnabled = isOn
    if isOn, state != .mandatory { state = .enabled }
  }

  /// True when codes of more than five steps on each side count, which is more than anybody gets
  /// who configures nothing.
  public var isWindowWide: Bool {
    isTOTPOn && window.adjacentIntervals > Window.standard.adjacentIntervals
  }

  /// The steps that are accepted; five on each side when nothing was configured.
  public var window: Window {
    totp?.adjacentIntervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard
  }

  /// This configuration as it takes the place of another, when it was read from the wire.
  ///
  /// The wire leaves a zero out. So intervals that are left out where zero is stored repeat what was
  /// read, and zero stays; taken as unset they would be five, which accepts eleven codes for one.
  public func replacing(_ old: MFAConfiguration) -> MFAConfiguration {
    var new = self
    if old.totp?.adjacentIntervals == 0, let totp, totp.adjacentIntervals == nil {
      new.totp?.adjacentIntervals = 0
    }
    return new
  }

  /// Checks the ranges.
  func check() throws(PolicyError) {
    if let intervals = totp?.adjacentIntervals, !Window.range.contains(intervals) {
      throw .invalidAdjacentIntervals(intervals)
    }
  }
}

/// How users come to enroll.
///
/// Recorded for the application; the server does not enforce it.
public enum EnrollmentPattern: String, CaseIterable, Sendable {
  /// Mandatory at sign-up.
  case mandatory
  /// Offered at sign-up, and can be put off.
  case skippable
  /// From the account page.
  case account
  /// When a sensitive feature is used.
  case stepUp = "step-up"
}
