import Database
public import OTP

/// The effective policy, regardless of how the configuration expresses it.
///
/// Unset intervals equal 5, and an unspecified state equals enabled. The column `policy_in_force`
/// implements the same rule in the database; both have the start date as stored, since only a
/// comparison knows on which day it's made.
public struct PolicyInForce: Hashable, Sendable {
  public let isTOTPOn: Bool
  public let isTOTPMandatory: Bool
  /// The window in which codes are accepted; nil if TOTP is disabled.
  public let window: Window?
  /// Whether the window is only the widest that can be meant.
  public let isWindowUnsaid: Bool
  public let isSMSOn: Bool
  public let pattern: EnrollmentPattern?
  public let mandatoryFrom: Day?
  public let enforcement: Enforcement?

  public init(_ edit: PolicyEdit) {
    let configuration = edit.configuration
    isTOTPOn = configuration.isTOTPOn
    isTOTPMandatory = configuration.totp?.state == .mandatory
    window = configuration.isTOTPOn ? configuration.window : nil
    isWindowUnsaid = configuration.isWindowUnsaid
    isSMSOn = configuration.isSMSOn
    pattern = edit.pattern
    mandatoryFrom = edit.mandatoryFrom
    enforcement = edit.enforcement
  }

  /// Returns the fields in which two policies differ on a day, in a fixed order.
  ///
  /// Windows are compared only if both policies have one, and start dates only if they still have
  /// an effect.
  public func differences(from other: PolicyInForce, on today: Day) -> [PolicyChange.Field] {
    var fields: [PolicyChange.Field] = []
    if isTOTPOn != other.isTOTPOn || isTOTPMandatory != other.isTOTPMandatory {
      fields.append(.totp)
    }
    if let window, let theirs = other.window,
      window != theirs || isWindowUnsaid != other.isWindowUnsaid
    {
      fields.append(.adjacentIntervals)
    }
    if isSMSOn != other.isSMSOn { fields.append(.sms) }
    if pattern != other.pattern || start(on: today) != other.start(on: today) {
      fields.append(.pattern)
    }
    if enforcement != other.enforcement { fields.append(.enforcement) }
    return fields
  }

  /// The start date if it still has an effect on a day.
  ///
  /// It's over once it has passed; but if it's later than the start of the enforcement, the grace period
  /// depends on it.
  private func start(on today: Day) -> Day? {
    guard let mandatoryFrom else { return nil }
    let isAlone = enforcement.map { mandatoryFrom <= $0.from } ?? true
    return mandatoryFrom <= (isAlone ? today : Self.lastOver(on: today)) ? nil : mandatoryFrom
  }

  /// The last start date on which no grace period depends anymore.
  private static func lastOver(on today: Day) -> Day {
    Day(today.start.advanced(bySeconds: -Int64(Enforcement.graceRange.upperBound) * 86_400))
  }

  /// The SQL expression for `policy_in_force` of a row of `scope` without a start date that has no
  /// effect anymore; the same rule as in ``differences(from:on:)``.
  static func column(of table: SQL, on today: Day) -> SQL {
    """
    CASE WHEN \(table).mandatory_from <= CASE
        WHEN \(table).enforcement IS NULL OR \(table).mandatory_from <= \(table).enforced_from
        THEN \(today.description) ELSE \(lastOver(on: today).description) END
      THEN replace(\(table).policy_in_force, 'mandatory ' || \(table).mandatory_from, 'mandatory ')
      ELSE \(table).policy_in_force END
    """
  }
}

extension StoredPolicy {
  public var inForce: PolicyInForce { PolicyInForce(edit) }
}

/// The MFA policy of a pool with its last change, without the numbers of users.
public struct StoredPolicy: Sendable {
  public let pool: Pool
  public private(set) var configuration: MFAConfiguration
  public private(set) var pattern: EnrollmentPattern?
  public private(set) var mandatoryFrom: Day?
  public private(set) var enforcement: Enforcement?
  /// The number of changes; 0 if the policy was never changed.
  public private(set) var version: Int
  public private(set) var changedAt: Instant?
  public private(set) var changedBy: String?
  public private(set) var changeReason: String?

  public var edit: PolicyEdit {
    PolicyEdit(
      configuration: configuration, pattern: pattern, mandatoryFrom: mandatoryFrom,
      enforcement: enforcement)
  }

  static let columns: SQL = """
    \(Pool.columns), s.mfa_state, s.sms, s.totp_state, s.totp_intervals, s.pattern,
      s.policy_version, s.policy_changed_at, s.policy_changed_by, s.mandatory_from, s.policy_reason,
      s.enforcement, s.enforced_from, s.grace_days
    """

  init(_ row: inout Row) throws {
    pool = try Pool(&row)
    configuration = try Self.configuration(&row)
    pattern = try row.next()
    version = try row.next()
    changedAt = try row.next()
    changedBy = try row.next()
    mandatoryFrom = (try row.next() as String?).flatMap { Day($0) }
    changeReason = try row.next()
    enforcement = try Enforcement(&row)
  }

  func changed(
    to edit: PolicyEdit, by name: String, because reason: String?, at now: Instant
  ) -> StoredPolicy {
    var policy = self
    policy.configuration = edit.configuration
    policy.pattern = edit.pattern
    policy.mandatoryFrom = edit.mandatoryFrom
    policy.enforcement = edit.enforcement
    policy.version += 1
    policy.changedAt = now
    policy.changedBy = name
    policy.changeReason = reason
    return policy
  }

  /// Reads the configuration from the four columns `mfa_state, sms, totp_state, totp_intervals`.
  static func configuration(_ row: inout Row) throws -> MFAConfiguration {
    MFAConfiguration(state: try row.next(), smsEnabled: try row.next(), totp: try totp(&row))
  }

  /// Reads the TOTP configuration from the two columns `totp_state, totp_intervals`.
  static func totp(_ row: inout Row) throws -> TOTPConfiguration? {
    let (state, intervals): (MFAState?, Int?) = (try row.next(), try row.next())
    return state.map {
      TOTPConfiguration(state: $0, intervals: AdjacentIntervals(stored: intervals))
    }
  }
}
