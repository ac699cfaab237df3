/// What a policy does at sign-in, whatever its settings are called, and who enforces it.
public struct EffectiveMFA: Sendable, Equatable {
  /// Who enforces enrollment.
  public enum Enforcer: Sendable, Equatable {
    /// No one: no factor can be enrolled, or no pattern requires it.
    case nobody
    /// The application, which knows the pattern and decides whom it lets in.
    case application
    /// The server.
    case server(Enforcement)
  }

  /// When something took effect.
  public enum Beginning: Sendable, Equatable {
    /// A date that was set, which begins in UTC.
    case day(Day)
    /// The time of a change.
    case moment(Instant)
  }

  /// The kinds of factors whose codes the server requires from users who have one.
  public let kinds: Set<Factor.Kind>
  /// The number of users whom the server asks for a code at each sign-in.
  public let askedUsers: Int
  /// The number of users who sign in with only their first factor.
  public let unaskedUsers: Int
  /// The number of users.
  public let users: Int
  /// Whether the configuration says “mandatory”, or the enrollment pattern does.
  public let saysMandatory: Bool
  /// The enrollment pattern; nil if none is set.
  public let pattern: EnrollmentPattern?
  /// The day from which the pattern “mandatory” applies, if it's still to come.
  public let startsOn: Day?
  /// The day from which the server enforces enrollment, if it's still to come.
  public let enforcedFrom: Day?
  /// The number of users without a second factor who still have time to enroll.
  public let usersInGrace: Int
  /// Who enforces enrollment now.
  public let enrollment: Enforcer
  /// When the enrollment pattern took effect; nil if that isn't known.
  public let enrollmentSince: Beginning?
  /// When codes were first required by the current configuration; nil if that isn't known.
  public let codesSince: Instant?

  /// Creates the effective state of a policy.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - history: The policy's latest changes, newest first.
  ///   - usersInGrace: The number of users without a second factor who still have time to enroll.
  ///   - now: The current time.
  public init(_ policy: Policy, history: [AuditRow], usersInGrace: Int = 0, at now: Instant) {
    self.usersInGrace = usersInGrace
    let configuration = policy.configuration
    kinds = configuration.kinds
    users = policy.users
    askedUsers = policy.users(with: configuration.kinds)
    unaskedUsers = policy.users(without: configuration.kinds)
    pattern = policy.pattern
    saysMandatory =
      policy.pattern == .mandatory || configuration.state == .mandatory
      || configuration.totp?.state == .mandatory
    startsOn = policy.mandatoryFrom.flatMap { $0.start > now ? $0 : nil }
    let enforcedSince = policy.edit.effectiveEnforcement?.start(mandatoryFrom: policy.mandatoryFrom)
    enforcedFrom = enforcedSince.flatMap { $0 > now ? Day($0) : nil }
    enrollment = Self.enforcer(of: policy.edit, at: now)
    codesSince = Self.lastChange(of: [.totp, .sms, .mfaState], in: history)
    if case .server = enrollment {
      enrollmentSince = enforcedSince.map { .day(Day($0)) }
      return
    }
    enrollmentSince =
      startsOn == nil
      ? policy.mandatoryFrom.map(Beginning.day)
        ?? Self.lastChange(of: [.pattern], in: history).map(Beginning.moment) : nil
  }

  /// Returns who enforces enrollment under a policy.
  public static func enforcer(of edit: PolicyEdit, at now: Instant) -> Enforcer {
    if let enforcement = edit.effectiveEnforcement,
      enforcement.start(mandatoryFrom: edit.mandatoryFrom) <= now
    {
      return .server(enforcement)
    }
    let isRequired = edit.pattern == .mandatory || edit.pattern == .stepUp
    let hasBegun = edit.mandatoryFrom.map { $0.start <= now } ?? true
    return isRequired && hasBegun && Factor.Kind.allCases.contains(where: edit.configuration.isOn)
      ? .application : .nobody
  }

  private static func lastChange(
    of fields: Set<AuditFieldName>, in history: [AuditRow]
  ) -> Instant? {
    history.first { row in
      row.changes.contains { change in change.field.map(fields.contains) ?? false }
    }?.at
  }
}
