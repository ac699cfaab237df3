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
  /// The number of users whom the server asks for a code at each sign-in.
  public let askedUsers: Int
  /// The number of users who sign in with only their first factor.
  public let unaskedUsers: Int
  public let users: Int
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
  /// When codes were first required by the current configuration; nil if that isn't known.
  public let codesSince: Instant?

  /// `history` has the policy's latest changes, newest first.
  public init(
    _ policy: Policy, history: [AuditRow], usersInGrace: Int = 0, carriesMail: Bool,
    at now: Instant
  ) {
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
    enrollment = Self.enforcer(of: policy.edit, carriesMail: carriesMail, at: now)
    refusesNoOne =
      enforcedSince != nil && policy.enforcement?.mode == .refuse && !carriesMail
    codesSince = Self.lastChange(of: [.totp, .sms, .mfaState], in: history)
    if case .server = enrollment {
      enrollmentSince = enforcedSince.flatMap {
        Self.beginning(of: policy, enforcedFrom: $0, in: history)
      }
      return
    }
    enrollmentSince =
      startsOn == nil
      ? policy.mandatoryFrom.map(Beginning.day)
        ?? Self.lastChange(of: [.pattern], in: history).map(Beginning.moment) : nil
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

  private static func lastChange(
    of fields: Set<AuditFieldName>, in history: [AuditRow]
  ) -> Instant? {
    history.first { row in
      row.changes.contains { change in change.field.map(fields.contains) ?? false }
    }?.at
  }
}
