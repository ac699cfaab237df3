import Database

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
    return state.map { TOTPConfiguration(state: $0, adjacentIntervals: intervals) }
  }
}
