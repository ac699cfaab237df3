import Database

/// A scope's MFA configuration with what belongs to it.
public struct Policy: Sendable {
  /// The scope it is in force for.
  public let scope: Scope
  /// The configuration.
  public private(set) var configuration: MFAConfiguration
  /// The enrollment pattern; nil when none was chosen.
  public private(set) var pattern: EnrollmentPattern?
  /// From which day on the pattern “mandatory” counts; nil for at once, and for other patterns.
  public private(set) var mandatoryFrom: Day?
  /// Counts the changes; 0 for one that was never changed.
  public private(set) var version: Int
  /// When it was last changed; nil when never.
  public private(set) var changedAt: Instant?
  /// Who changed it last.
  public private(set) var changedBy: String?
  /// Why it was last changed; nil when no reason was given.
  public private(set) var changeReason: String?
  /// How many users the scope has.
  public let users: Int
  /// How many of them have a second factor.
  public let enrolledUsers: Int
  /// How many of them have an authenticator app.
  public let totpUsers: Int
  /// How many of them have a phone as second factor.
  public let phoneUsers: Int

  /// What of it can be changed.
  public var edit: PolicyEdit {
    PolicyEdit(configuration: configuration, pattern: pattern, mandatoryFrom: mandatoryFrom)
  }

  static let columns: SQL = """
    \(Scope.columns), s.mfa_state, s.sms, s.totp_state, s.totp_intervals, s.pattern,
      s.policy_version, s.policy_changed_at, s.policy_changed_by, s.users, s.enrolled_users,
      s.mandatory_from, s.totp_users, s.phone_users, s.policy_reason
    """
  /// How many columns `columns` names.
  static let columnCount = 21

  init(_ row: borrowing Row) throws {
    scope = try Scope(row)
    configuration = try Self.configuration(row, from: 7)
    pattern = (try row.value(11) as String?).flatMap(EnrollmentPattern.init(rawValue:))
    version = try row.value(12)
    changedAt = (try row.value(13) as Int64?).map(Instant.init(microseconds:))
    changedBy = try row.value(14)
    users = try row.value(15)
    enrolledUsers = try row.value(16)
    mandatoryFrom = (try row.value(17) as String?).flatMap { Day($0) }
    totpUsers = try row.value(18)
    phoneUsers = try row.value(19)
    changeReason = try row.value(20)
  }

  /// The policy as it reads after a change.
  func changed(
    to edit: PolicyEdit, by name: String, because reason: String?, at now: Instant
  ) -> Policy {
    var policy = self
    policy.configuration = edit.configuration
    policy.pattern = edit.pattern
    policy.mandatoryFrom = edit.mandatoryFrom
    policy.version += 1
    policy.changedAt = now
    policy.changedBy = name
    policy.changeReason = reason
    return policy
  }

  /// How many users are asked for a factor of this kind and for no other.
  public func usersOnly(with kind: Factor.Kind) -> Int {
    let others = configuration.kinds.subtracting([kind])
    return users(with: others.union([kind])) - users(with: others)
  }

  /// How many users have a factor of one of some kinds.
  func users(with kinds: Set<Factor.Kind>) -> Int {
    switch (kinds.contains(.totp), kinds.contains(.phone)) {
    case (true, true): enrolledUsers
    case (true, false): totpUsers
    case (false, true): phoneUsers
    case (false, false): 0
    }
  }

  /// The configuration of the four columns `mfa_state, sms, totp_state, totp_intervals`.
  static func configuration(_ row: borrowing Row, from column: Int) throws -> MFAConfiguration {
    let state: Int? = try row.value(column)
    return MFAConfiguration(
      state: state.flatMap(MFAState.init(rawValue:)), smsEnabled: try row.value(column + 1),
      totp: try totp(row, from: column + 2))
  }

  /// The entry for one-time codes of the two columns `totp_state, totp_intervals`.
  static func totp(_ row: borrowing Row, from column: Int) throws -> TOTPConfiguration? {
    guard let state = (try row.value(column) as Int?).flatMap(MFAState.init(rawValue:)) else {
      return nil
    }
    return TOTPConfiguration(state: state, adjacentIntervals: try row.value(column + 1))
  }
}

/// What of a policy can be changed.
public struct PolicyEdit: Equatable, Sendable {
  /// The configuration.
  public var configuration: MFAConfiguration
  /// The enrollment pattern.
  public var pattern: EnrollmentPattern? {
    didSet { if pattern != .mandatory { mandatoryFrom = nil } }
  }
  /// From which day on the pattern “mandatory” counts; nil for at once, and for other patterns.
  public var mandatoryFrom: Day? {
    didSet { if pattern != .mandatory { mandatoryFrom = nil } }
  }

  /// The columns that hold a policy, of a table.
  static func columns(_ table: SQL) -> SQL {
    """
    \(table).mfa_state, \(table).sms, \(table).totp_state, \(table).totp_intervals,
      \(table).pattern, \(table).mandatory_from
    """
  }

  /// Reads the six columns of `columns`.
  init(_ row: borrowing Row, from column: Int) throws {
    self.init(
      configuration: try Policy.configuration(row, from: column),
      pattern: (try row.value(column + 4) as String?).flatMap(EnrollmentPattern.init(rawValue:)),
      mandatoryFrom: (try row.value(column + 5) as String?).flatMap { Day($0) })
  }

  /// Makes an edit; a day without the pattern “mandatory” is dropped.
  public init(
    configuration: MFAConfiguration, pattern: EnrollmentPattern?, mandatoryFrom: Day? = nil
  ) {
    self.configuration = configuration
    self.pattern = pattern
    self.mandatoryFrom = pattern == .mandatory ? mandatoryFrom : nil
  }
}

/// A field of a policy that changes, in words for people.
public struct PolicyChange: Sendable, Equatable {
  /// What changes.
  public enum Field: String, Sendable, CaseIterable {
    /// One-time codes from an authenticator app.
    case totp = "TOTP"
    /// The steps accepted on each side.
    case adjacentIntervals = "adjacent intervals"
    /// Codes by SMS.
    case sms = "SMS"
    /// The configuration's top state.
    case state = "state"
    /// How users come to enroll.
    case pattern = "enrollment pattern"
  }
  /// The field.
  public let field: Field
  /// What it is before.
  public let from: String
  /// What it is after.
  public let to: String

  /// The fields in which two policies differ, in a fixed order.
  public static func between(_ old: PolicyEdit, _ new: PolicyEdit) -> [PolicyChange] {
    Field.allCases.compactMap { field in
      let (from, to) = (words(field, old), words(field, new))
      return from == to ? nil : PolicyChange(field: field, from: from, to: to)
    }
  }

  /// A field of a policy in words.
  public static func words(_ field: Field, _ edit: PolicyEdit) -> String {
    let configuration = edit.configuration
    switch field {
    case .totp:
      return switch configuration.totp?.state {
      case nil, .disabled: "off"
      case .enabled: "on"
      case .mandatory: "on (mandatory)"
      case .unspecified: "on (state not given)"
      }
    case .adjacentIntervals:
      guard let totp = configuration.totp else { return "none" }
      return totp.adjacentIntervals.map(String.init) ?? "default (5)"
    case .sms:
      guard configuration.smsEnabled else { return "off" }
      return configuration.isSMSOn ? "on" : "off (listed, but the state is not on)"
    case .state:
      return switch configuration.state {
      case nil: "not set"
      case .unspecified: "unspecified"
      case .disabled: "disabled"
      case .enabled: "enabled"
      case .mandatory: "mandatory"
      }
    case .pattern:
      return switch edit.pattern {
      case nil: "none"
      case .mandatory:
        edit.mandatoryFrom.map { "mandatory from \($0)" } ?? "mandatory at sign-up"
      case .skippable: "skippable at sign-up"
      case .account: "from the account page"
      case .stepUp: "step-up"
      }
    }
  }
}

/// What a change of policy would do.
public struct PolicyPreview: Sendable {
  /// The policy in force.
  public let policy: Policy
  /// What it would become.
  public let new: PolicyEdit
  /// The fields that differ.
  public let changes: [PolicyChange]
  /// How many enrolled users would then sign in with their first factor only.
  public let losingSecondFactor: Int
  /// Above how many affected users a second administrator approves a weaker policy; nil for never.
  public let approvalOver: Int?
  /// How the change weakens the policy; empty when it doesn't.
  public var weakenings: [PolicyWeakening] { new.weakenings(since: policy.edit) }
  /// The action that saves it.
  public var action: ConsoleAction { weakenings.isEmpty ? .changePolicy : .weakenPolicy }
  /// How many users a weaker policy affects; 0 when it isn't weaker.
  public var affectedUsers: Int { policy.users(affectedBy: weakenings) }
  /// Whether the change waits for a second administrator.
  public var needsApproval: Bool { approvalOver.map { affectedUsers > $0 } ?? false }
  /// How many users have no factor now: those whom a mandatory pattern is about.
  public var withoutFactor: Int { max(policy.users - policy.enrolledUsers, 0) }
}

/// The result of changing a policy in the console.
public enum PolicyOutcome: Sendable {
  /// It is in force.
  case changed(Policy)
  /// It waits for a second administrator, at most until this moment.
  case waiting(until: Instant)
}

/// Why a policy cannot be changed.
public enum PolicyError: Error, Sendable {
  /// Adjacent intervals that are not 0 to 10.
  case invalidAdjacentIntervals(Int)
  /// More than one TOTP entry in one configuration.
  case twoTOTPEntries
  /// Somebody else changed it since; the policy now in force.
  case changedMeanwhile(Policy)
  /// Another weaker policy waits for a second administrator already.
  case approvalPending
  /// The scope was deleted.
  case scopeNotFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension PolicyError: UseCaseError {}
