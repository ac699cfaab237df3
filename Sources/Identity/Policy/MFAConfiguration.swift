public import Database
public import OTP

/// The state of multi-factor authentication or of one of its providers.
public enum MFAState: Int, CaseIterable, Sendable, SQLConvertible {
  case unspecified = 0
  case disabled = 1
  case enabled = 2
  /// Required for every user; recorded for applications, not enforced at sign-in.
  case mandatory = 3

  /// The stable identifier in the audit log.
  var code: String {
    switch self {
    case .unspecified: "unspecified"
    case .disabled: "disabled"
    case .enabled: "enabled"
    case .mandatory: "mandatory"
    }
  }

  init?(code: String) {
    guard let state = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = state
  }
}

/// The provider configuration that enables TOTP.
public struct TOTPConfiguration: Equatable, Sendable {
  /// An unspecified state is treated as enabled.
  public var state: MFAState
  /// The number of adjacent intervals accepted on each side, 0 to 10.
  ///
  /// Nil differs from 0: it means 5.
  public var adjacentIntervals: Int?

  public init(state: MFAState, adjacentIntervals: Int?) {
    self.state = state
    self.adjacentIntervals = adjacentIntervals
  }
}

/// The MFA configuration of a pool: `mfa` of a project, `mfaConfig` of a tenant.
public struct MFAConfiguration: Equatable, Sendable {
  /// The top-level state, which governs SMS together with `smsEnabled`; nil if never set.
  public var state: MFAState?
  /// Whether SMS is among the enabled providers.
  public var smsEnabled: Bool
  /// The TOTP configuration; nil if there is none, which means disabled.
  public var totp: TOTPConfiguration?

  public init(state: MFAState? = nil, smsEnabled: Bool = false, totp: TOTPConfiguration? = nil) {
    self.state = state
    self.smsEnabled = smsEnabled
    self.totp = totp
  }

  /// The configuration of a new project: everything disabled.
  public static let initial = MFAConfiguration(state: .disabled)

  /// The configuration of a new project in the emulator profile: that of every project in Google's
  /// emulator.
  static let emulator = MFAConfiguration(state: .enabled, smsEnabled: true)

  /// Whether users can enroll authenticator apps and enrolled users are asked for a code.
  ///
  /// An unspecified state is treated as enabled, because the example call for a tenant in Google's
  /// documentation enables TOTP this way.
  public var isTOTPOn: Bool {
    guard let totp else { return false }
    return totp.state != .disabled
  }

  /// Both the top-level state and the list of providers have to enable it.
  public var isSMSOn: Bool { smsEnabled && (state == .enabled || state == .mandatory) }

  /// Returns whether users can enroll factors of a kind and are asked for their codes.
  public func isOn(_ kind: Factor.Kind) -> Bool {
    switch kind {
    case .totp: isTOTPOn
    case .phone: isSMSOn
    }
  }

  var kinds: Set<Factor.Kind> { Set(Factor.Kind.allCases.filter(isOn)) }

  /// Enables or disables SMS; a configuration that already has this effect isn't changed.
  ///
  /// Disabling removes the provider from the list and leaves the top-level state alone.
  public mutating func setSMS(_ isOn: Bool) {
    guard isOn != isSMSOn else { return }
    smsEnabled = isOn
    if isOn, state != .mandatory { state = .enabled }
  }

  /// Whether more than five adjacent intervals are accepted, which is more than the default.
  public var isWindowWide: Bool {
    isTOTPOn && window.adjacentIntervals > Window.standard.adjacentIntervals
  }

  /// The effective window; five adjacent intervals if none are configured.
  public var window: Window {
    totp?.adjacentIntervals.flatMap(Window.init(adjacentIntervals:)) ?? .standard
  }

  /// Returns this configuration, as read from the wire, as the replacement of another.
  ///
  /// The wire format omits zeros. If 0 is stored, missing intervals repeat the value that was read,
  /// so 0 is kept; treating them as unset would mean 5, and eleven valid codes instead of one.
  /// A state that was never set is read as disabled, so disabled leaves it unset.
  public func replacing(_ old: MFAConfiguration) -> MFAConfiguration {
    var new = self
    if old.totp?.adjacentIntervals == 0, let totp, totp.adjacentIntervals == nil {
      new.totp?.adjacentIntervals = 0
    }
    if old.state == nil, state == .disabled { new.state = nil }
    return new
  }

  /// Returns this configuration as a client has to write it over another: with the default number of
  /// adjacent intervals where a missing one would keep 0.
  public func written(over old: MFAConfiguration) -> MFAConfiguration {
    var new = self
    if replacing(old).totp?.adjacentIntervals != totp?.adjacentIntervals {
      new.totp?.adjacentIntervals = Window.standard.adjacentIntervals
    }
    return new
  }

  func check() throws(PolicyError) {
    if let intervals = totp?.adjacentIntervals, !Window.range.contains(intervals) {
      throw .invalidAdjacentIntervals(intervals)
    }
  }
}

/// How users are asked to enroll.
///
/// Recorded for applications; the server doesn't enforce it.
public enum EnrollmentPattern: String, CaseIterable, Sendable, SQLConvertible {
  /// Enrollment is mandatory at sign-up.
  case mandatory
  /// Enrollment is offered at sign-up and can be skipped.
  case skippable
  /// Enrollment is offered on the account page.
  case account
  /// Enrollment is requested when the user accesses a sensitive feature.
  case stepUp = "step-up"
}
