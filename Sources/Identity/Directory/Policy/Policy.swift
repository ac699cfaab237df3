import Database

/// The MFA policy of a pool with its last change and the numbers of users.
///
/// The fields of the stored policy are read as members, such as `policy.configuration`.
@dynamicMemberLookup
public struct Policy: Sendable {
  public internal(set) var stored: StoredPolicy
  public let users: Int
  public let enrolledUsers: Int
  public let totpUsers: Int
  public let phoneUsers: Int

  public subscript<Value>(dynamicMember field: KeyPath<StoredPolicy, Value>) -> Value {
    stored[keyPath: field]
  }

  static let columns: SQL = """
    \(StoredPolicy.columns), \(AccountCounts.current("users")),
      \(AccountCounts.current("enrolled_users")), \(AccountCounts.current("totp_users")),
      \(AccountCounts.current("phone_users"))
    """

  init(_ row: inout Row) throws {
    stored = try StoredPolicy(&row)
    users = try row.next()
    enrolledUsers = try row.next()
    totpUsers = try row.next()
    phoneUsers = try row.next()
  }

  /// Returns how many users are asked for a factor of this kind and of no other.
  public func usersOnly(with kind: Factor.Kind) -> Int {
    usersOnly(with: kind, under: stored.configuration)
  }

  /// Returns how many users have a factor of this kind, enabled or not, and none of another kind that
  /// a configuration enables.
  public func usersOnly(with kind: Factor.Kind, under configuration: MFAConfiguration) -> Int {
    let others = configuration.kinds.subtracting([kind])
    return users(with: others.union([kind])) - users(with: others)
  }

  /// Returns how many users would sign in without a second factor under another configuration.
  func users(losingFactorBy new: MFAConfiguration) -> Int {
    users(with: stored.configuration.kinds.union(new.kinds)) - users(with: new.kinds)
  }

  public func isTOTPTurnedOff(by new: MFAConfiguration) -> Bool {
    stored.configuration.isTOTPOn && !new.isTOTPOn
  }

  /// Returns how many users have a factor of at least one of these kinds.
  func users(with kinds: Set<Factor.Kind>) -> Int {
    switch (kinds.contains(.totp), kinds.contains(.phone)) {
    case (true, true): enrolledUsers
    case (true, false): totpUsers
    case (false, true): phoneUsers
    case (false, false): 0
    }
  }

  func users(without kinds: Set<Factor.Kind>) -> Int { max(users - users(with: kinds), 0) }
}

/// The editable part of a policy.
public struct PolicyEdit: Equatable, Sendable {
  public var configuration: MFAConfiguration
  public var pattern: EnrollmentPattern? {
    didSet { if pattern != .mandatory { mandatoryFrom = nil } }
  }
  /// The day from which the pattern “mandatory” applies; nil for immediately, and for other
  /// patterns.
  public var mandatoryFrom: Day? {
    didSet { if pattern != .mandatory { mandatoryFrom = nil } }
  }
  /// How the server enforces mandatory enrollment; nil if it doesn't.
  ///
  /// It's kept, without effect, while TOTP is disabled or the pattern isn't “mandatory”.
  public var enforcement: Enforcement?

  static func columns(_ table: SQL) -> SQL {
    """
    \(table).mfa_state, \(table).sms, \(table).totp_state, \(table).totp_intervals,
      \(table).pattern, \(table).mandatory_from, \(table).enforcement, \(table).enforced_from,
      \(table).grace_days
    """
  }

  /// The names of the policy columns, for an `INSERT` of ``values``.
  static let columnNames: SQL = """
    mfa_state, sms, totp_state, totp_intervals, pattern, mandatory_from, enforcement,
      enforced_from, grace_days
    """

  var values: SQL {
    let totp = configuration.totp
    return """
      \(configuration.state), \(configuration.smsEnabled), \(totp?.state),
        \(totp?.intervals.stored), \(pattern), \(mandatoryFrom?.description),
        \(enforcement?.mode), \(enforcement?.from.description), \(enforcement?.graceDays)
      """
  }

  init(_ row: inout Row) throws {
    self.init(
      configuration: try StoredPolicy.configuration(&row), pattern: try row.next(),
      mandatoryFrom: (try row.next() as String?).flatMap { Day($0) },
      enforcement: try Enforcement(&row))
  }

  /// Creates an edit; the day is dropped unless the pattern is “mandatory”.
  public init(
    configuration: MFAConfiguration, pattern: EnrollmentPattern?, mandatoryFrom: Day? = nil,
    enforcement: Enforcement? = nil
  ) {
    self.configuration = configuration
    self.pattern = pattern
    self.mandatoryFrom = pattern == .mandatory ? mandatoryFrom : nil
    self.enforcement = enforcement
  }
}

public struct PolicyChange: Sendable, Equatable {
  public enum Field: String, Sendable, CaseIterable {
    case totp = "TOTP"
    case adjacentIntervals = "adjacent intervals"
    case sms = "SMS"
    /// The configuration's top-level state.
    case state = "state"
    case pattern = "enrollment pattern"
    case enforcement = "enforcement"
  }

  public enum Value: Sendable, Hashable {
    /// The state of TOTP; a missing entry is disabled.
    case totp(MFAState)
    /// Nil without a TOTP entry.
    case adjacentIntervals(AdjacentIntervals?)
    case sms(SMS)
    case state(MFAState?)
    case pattern(EnrollmentPattern?, from: Day?)
    case enforcement(Enforcement?)
  }

  public enum SMS: Sendable, Hashable {
    case off
    case on
    /// Listed as enabled, but disabled by the top-level state.
    case listed
  }

  public let field: Field
  public let from: Value
  public let to: Value

  /// Returns the fields in which two policies differ, in a fixed order.
  public static func between(_ old: PolicyEdit, _ new: PolicyEdit) -> [PolicyChange] {
    Field.allCases.compactMap { field in
      let (from, to) = (value(field, old), value(field, new))
      return from == to ? nil : PolicyChange(field: field, from: from, to: to)
    }
  }

  public static func value(_ field: Field, _ edit: PolicyEdit) -> Value {
    let configuration = edit.configuration
    switch field {
    case .totp: return .totp(configuration.totp?.state ?? .disabled)
    case .adjacentIntervals: return .adjacentIntervals(configuration.totp?.intervals)
    case .sms:
      guard configuration.smsEnabled else { return .sms(.off) }
      return .sms(configuration.isSMSOn ? .on : .listed)
    case .state: return .state(configuration.state)
    case .pattern: return .pattern(edit.pattern, from: edit.mandatoryFrom)
    case .enforcement: return .enforcement(edit.enforcement)
    }
  }
}

extension PolicyEdit {
  var auditFields: [AuditField] {
    let totp = configuration.totp
    return [
      AuditField(.totp, totp.map { .code($0.state.code) } ?? .absent),
      AuditField(.adjacentIntervals, totp?.intervals.auditValue ?? .absent),
      AuditField(.sms, .flag(configuration.smsEnabled)),
      AuditField(.mfaState, configuration.state.map { .code($0.code) } ?? .absent),
      AuditField(.pattern, pattern.map { .code($0.rawValue) } ?? .absent),
      AuditField(.mandatoryFrom, mandatoryFrom.map { .day($0) } ?? .absent),
      AuditField(.enforcement, enforcement.map { .code($0.mode.rawValue) } ?? .absent),
      AuditField(.enforcedFrom, enforcement.map { .day($0.from) } ?? .absent),
      AuditField(.graceDays, enforcement.map { .number($0.graceDays) } ?? .absent),
    ]
  }
}

/// The effects of a policy change.
public struct PolicyPreview: Sendable {
  public let policy: Policy
  public let new: PolicyEdit
  public let changes: [PolicyChange]
  /// The number of enrolled users who would sign in with only their first factor.
  public let losingSecondFactor: Int
  /// The number of affected users above which a weaker policy requires approval; nil for never.
  public let approvalOver: Int?
  /// The number of consecutive wrong codes after which a user's codes are locked.
  public let codeCap: Int
  public var weakenings: [PolicyWeakening] { policy.weakenings(by: new) }
  public var action: ConsoleAction { weakenings.isEmpty ? .changePolicy : .weakenPolicy }
  public var affectedUsers: Int { policy.users(affectedBy: weakenings) }
  public var needsApproval: Bool { policy.needsApproval(of: weakenings, above: approvalOver) }
  /// Whether the change can't be made because refused users couldn't be sent enrollment links.
  public let lacksEmail: Bool
}

public enum PolicyOutcome: Sendable {
  case changed(Policy)
  /// Approval is pending, until this time at the latest.
  case waiting(Policy, until: Instant)
  /// The server of the connected project is to change it, under the number of the intent.
  case requested(Int64)
}

public enum PolicyError: Error, Sendable {
  /// The number of adjacent intervals isn't 0 to 10.
  case invalidAdjacentIntervals(Int)
  /// Sign-ins can't be refused, because this server sends no email and so no enrollment links.
  case refusalNeedsEmail
  case twoTOTPEntries
  /// The policy was changed by someone else in the meantime; the current policy.
  case changedMeanwhile(Policy)
  /// Another change that weakens the policy already has a pending approval.
  case approvalPending
  /// The weaker policy requires a second administrator's approval, which a service token can't request.
  case approvalRequired
  /// The server of a connected project can't be sent all of these changes at once: text messages are
  /// turned on or off alone, and what's stored here only isn't the policy.
  case notAtOnce
  case poolNotFound
}
