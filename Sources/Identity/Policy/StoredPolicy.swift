import Database

/// The MFA policy of a user pool with its last change, without the numbers of users.
public struct StoredPolicy: Sendable {
  public let scope: Scope
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
    \(Scope.columns), s.mfa_state, s.sms, s.totp_state, s.totp_intervals, s.pattern,
      s.policy_version, s.policy_changed_at, s.policy_changed_by, s.mandatory_from, s.policy_reason,
      s.enforcement, s.enforced_from, s.grace_days
    """

  static let columnCount = 20

  init(_ row: borrowing Row) throws {
    scope = try Scope(row)
    configuration = try Self.configuration(row, from: 7)
    pattern = (try row.value(11) as String?).flatMap(EnrollmentPattern.init(rawValue:))
    version = try row.value(12)
    changedAt = (try row.value(13) as Int64?).map(Instant.init(microseconds:))
    changedBy = try row.value(14)
    mandatoryFrom = (try row.value(15) as String?).flatMap { Day($0) }
    changeReason = try row.value(16)
    enforcement = try Enforcement(row, from: 17)
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
  static func configuration(_ row: borrowing Row, from column: Int) throws -> MFAConfiguration {
    let state: Int? = try row.value(column)
    return MFAConfiguration(
      state: state.flatMap(MFAState.init(rawValue:)), smsEnabled: try row.value(column + 1),
      totp: try totp(row, from: column + 2))
  }

  /// Reads the TOTP configuration from the two columns `totp_state, totp_intervals`.
  static func totp(_ row: borrowing Row, from column: Int) throws -> TOTPConfiguration? {
    guard let state = (try row.value(column) as Int?).flatMap(MFAState.init(rawValue:)) else {
      return nil
    }
    return TOTPConfiguration(state: state, adjacentIntervals: try row.value(column + 1))
  }
}
