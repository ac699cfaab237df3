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
  public var intervals: AdjacentIntervals

  /// The number of adjacent intervals accepted on each side, 0 to 10.
  ///
  /// Nil differs from 0: it means 5, or that it isn't known.
  public var adjacentIntervals: Int? {
    get { intervals.count }
    set { intervals = AdjacentIntervals(newValue) }
  }

  public init(state: MFAState, adjacentIntervals: Int?) {
    self.init(state: state, intervals: AdjacentIntervals(adjacentIntervals))
  }

  public init(state: MFAState, intervals: AdjacentIntervals) {
    self.state = state
    self.intervals = intervals
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

  /// Whether TOTP is on and the top-level state is off, of which Google doesn't say what happens.
  public func isUnclear(in kind: PoolKind) -> Bool {
    kind == .identityPlatform && isTOTPOn && state != .enabled && state != .mandatory
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

  /// Whether codes are accepted, and it isn't known whether in one interval or in the default window.
  public var isWindowUnsaid: Bool { isTOTPOn && totp?.intervals == .unsaid }

  /// The effective window; five adjacent intervals if none are configured, and if it isn't known.
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

/// What a policy does at sign-in, whatever its settings are called, and who enforces it.
public struct EffectiveMFA: Sendable, Equatable {
  public enum Enforcer: Sendable, Equatable {
    /// No one: no factor can be enrolled, or no pattern requires it.
    case nobody
    /// The application, which knows the pattern and decides whom it lets in.
    case application
    case server(Enforcement)
  }

  public enum Beginning: Sendable, Equatable {
    /// A date that was set, which begins in UTC.
    case day(Day)
    case moment(Instant)
  }

  /// The kinds of factors whose codes the server requires from users who have one.
  public let kinds: Set<Factor.Kind>
  /// The number of users who sign in with only their first factor.
  public let unaskedUsers: Int
  /// Whether the configuration says “mandatory”, or the enrollment pattern does.
  public let saysMandatory: Bool
  public let pattern: EnrollmentPattern?
  /// The day from which the pattern “mandatory” applies, if it's still to come.
  public let startsOn: Day?
  /// The day from which the server enforces enrollment, if it's still to come.
  public let enforcedFrom: Day?
  /// The number of users without a second factor who still have time to enroll.
  public let usersInGrace: Int
  public let enrollment: Enforcer
  /// Whether the policy refuses users, and no one is refused because the server sends no email.
  public let refusesNoOne: Bool
  /// When the enrollment pattern took effect; nil if that isn't known.
  public let enrollmentSince: Beginning?

  /// `history` has the policy's latest changes, newest first.
  public init(
    _ policy: Policy, history: [AuditRow], usersInGrace: Int = 0, carriesMail: Bool,
    at now: Instant
  ) {
    self.usersInGrace = usersInGrace
    let configuration = policy.configuration
    kinds = configuration.kinds
    unaskedUsers = policy.users(without: configuration.kinds)
    pattern = policy.pattern
    saysMandatory =
      policy.pattern == .mandatory || configuration.state == .mandatory
      || configuration.totp?.state == .mandatory
    startsOn = policy.mandatoryFrom.flatMap { $0.start > now ? $0 : nil }
    let enforcedSince = policy.edit.effectiveEnforcement?.start(mandatoryFrom: policy.mandatoryFrom)
    enforcedFrom = enforcedSince.flatMap { $0 > now ? Day($0) : nil }
    enrollment = Self.enforcer(of: policy.edit, carriesMail: carriesMail, at: now)
    refusesNoOne =
      enforcedSince != nil && policy.enforcement?.mode == .refuse && !carriesMail
    if case .server = enrollment {
      enrollmentSince = enforcedSince.flatMap {
        Self.beginning(of: policy, enforcedFrom: $0, in: history)
      }
      return
    }
    enrollmentSince =
      startsOn == nil
      ? policy.mandatoryFrom.map(Beginning.day)
        ?? Self.lastPattern(in: history).map(Beginning.moment) : nil
  }

  public static func enforcer(
    of edit: PolicyEdit, carriesMail: Bool, at now: Instant
  ) -> Enforcer {
    if let enforcement = edit.effectiveEnforcement?.applied(carriesMail: carriesMail),
      enforcement.start(mandatoryFrom: edit.mandatoryFrom) <= now
    {
      return .server(enforcement)
    }
    let isRequired = edit.pattern == .mandatory || edit.pattern == .stepUp
    let hasBegun = edit.mandatoryFrom.map { $0.start <= now } ?? true
    return isRequired && hasBegun && Factor.Kind.allCases.contains(where: edit.configuration.isOn)
      ? .application : .nobody
  }

  /// Returns since when the server has enforced a policy as it does now; nil if the history doesn't
  /// reach back that far.
  ///
  /// The first day may be before the change that set it.
  private static func beginning(
    of policy: Policy, enforcedFrom start: Instant, in history: [AuditRow]
  ) -> Beginning? {
    var edit = policy.edit
    for row in history {
      guard Day(row.at) > Day(start) else { return .day(Day(start)) }
      guard let earlier = edit.before(row.changes) else { return nil }
      let was = earlier.effectiveEnforcement
      if was?.mode != policy.enforcement?.mode
        || was?.start(mandatoryFrom: earlier.mandatoryFrom) != start
      {
        return .moment(row.at)
      }
      edit = earlier
    }
    // The remaining changes, if there are any, may be before that day or after it.
    return history.count == policy.version ? .day(Day(start)) : nil
  }

  private static func lastPattern(in history: [AuditRow]) -> Instant? {
    history.first { row in row.changes.contains { $0.field == .pattern } }?.at
  }
}
