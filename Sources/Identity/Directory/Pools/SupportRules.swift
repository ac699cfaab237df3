public import Database

public struct SupportRules: Sendable, Equatable {
  /// The number of wrong codes in a row that locks a user's second factors until recovery; 5 to
  /// 100.
  ///
  /// NIST SP 800-63B-4, section 3.2.2, allows no more than 100.
  public var codeCap = 10
  /// How long the removal of a factor can be undone, in hours; 0 to 720, 0 for never.
  public var undoHours = 72
  /// How long code attempts are kept in detail, in days; 1 to 400.
  public var codeAttemptDays = 90
  public var temporaryCodes = false
  public var recoveryCodes = false
  /// Whether agents can resynchronize authenticators whose clock is off.
  public var resynchronization = false
  /// The identity checks that an agent must confirm before acting, one per line; at most
  /// ``mostProofs``.
  public var identityProof: [String] = []
  /// Whether agents verify callers by a code sent to the user's email address.
  public var callerVerification = CallerVerification.off
  /// The hourly action limit per agent, above which an owner has to unblock them; 1 to 1,000.
  public var actionsPerHour = 20
  /// The number of users in one bulk removal above which approval is required; nil for never.
  public var approvalOverUsers: Int?
  /// Whether removing a user's last factor requires approval where enrollment is mandatory.
  public var approvalForLastFactor = false
  public var tokensRemoveFactors = true
  /// The number of users whose second factors one service token can change per hour.
  ///
  /// 1 to 1,000,000; nil for no limit. Imports aren't counted.
  public var tokenChangesPerHour: Int?
  /// The number of affected users above which a weaker MFA policy requires approval.
  ///
  /// 0 to 1,000,000; nil for never.
  public var policyApprovalOverUsers: Int?
  /// The share of sign-ins that a recommended window must keep, in hundredths of a percent; 9,000 to
  /// 10,000.
  public var signInGoal = SignInGoal.standard.basisPoints

  public init() {}

  /// The version, to notice changes while someone edits the rules.
  public var version: SettingsVersion { SettingsVersion(auditFields) }

  /// The maximum number of identity checks.
  public static let mostProofs = 10
  /// The maximum length of an identity check, in characters.
  public static let longestProof = 120

  package static func find(
    _ pool: Pool, _ connection: borrowing Connection
  ) throws -> SupportRules {
    try connection.first(
      """
      SELECT code_cap, undo_hours, code_attempt_days, temporary_codes, recovery_codes, identity_proof,
        actions_per_hour, approval_over_users, approval_for_last_factor, token_removal,
        token_changes_per_hour, policy_approval_over, caller_verification, sign_in_goal,
        resynchronization
      FROM support_rules WHERE scope_key = \(pool.key)
      """
    ) { row in
      var settings = SupportRules()
      settings.codeCap = try row.next()
      settings.undoHours = try row.next()
      settings.codeAttemptDays = try row.next()
      settings.temporaryCodes = try row.next()
      settings.recoveryCodes = try row.next()
      let proof: String = try row.next()
      settings.identityProof = proof.split(separator: "\n").map(String.init)
      settings.actionsPerHour = try row.next()
      settings.approvalOverUsers = try row.next()
      settings.approvalForLastFactor = try row.next()
      settings.tokensRemoveFactors = try row.next()
      settings.tokenChangesPerHour = try row.next()
      settings.policyApprovalOverUsers = try row.next()
      settings.callerVerification = try row.next()
      settings.signInGoal = try row.next()
      settings.resynchronization = try row.next()
      return settings
    } ?? SupportRules()
  }

  func store(_ pool: Pool, _ connection: borrowing Connection) throws {
    try connection.run(
      """
      INSERT INTO support_rules (scope_key, code_cap, undo_hours, code_attempt_days, temporary_codes,
        recovery_codes, identity_proof, actions_per_hour, approval_over_users,
        approval_for_last_factor, token_removal, token_changes_per_hour,
        policy_approval_over, caller_verification, sign_in_goal, resynchronization)
      VALUES (\(pool.key), \(codeCap), \(undoHours), \(codeAttemptDays), \(temporaryCodes),
        \(recoveryCodes), \(identityProof.joined(separator: "\n")), \(actionsPerHour),
        \(approvalOverUsers), \(approvalForLastFactor), \(tokensRemoveFactors),
        \(tokenChangesPerHour), \(policyApprovalOverUsers),
        \(callerVerification), \(signInGoal), \(resynchronization))
      ON CONFLICT (scope_key) DO UPDATE SET code_cap = excluded.code_cap,
        undo_hours = excluded.undo_hours, code_attempt_days = excluded.code_attempt_days,
        temporary_codes = excluded.temporary_codes, recovery_codes = excluded.recovery_codes,
        identity_proof = excluded.identity_proof, actions_per_hour = excluded.actions_per_hour,
        approval_over_users = excluded.approval_over_users,
        approval_for_last_factor = excluded.approval_for_last_factor,
        token_removal = excluded.token_removal,
        token_changes_per_hour = excluded.token_changes_per_hour,
        policy_approval_over = excluded.policy_approval_over,
        caller_verification = excluded.caller_verification,
        sign_in_goal = excluded.sign_in_goal,
        resynchronization = excluded.resynchronization
      """)
  }

  /// Returns the rules without blank identity checks, and the fields that are out of range, in the
  /// order of the form.
  func checked() -> (settings: SupportRules, faults: [ActionInputError]) {
    var settings = self
    settings.identityProof = identityProof.map(\.trimmed).filter { !$0.isEmpty }
    let isProof =
      settings.identityProof.count <= Self.mostProofs
      && settings.identityProof.allSatisfy {
        $0.count <= Self.longestProof && !$0.contains("\n")
      }
    let inRange: [(SupportRulesError.Field, Bool)] = [
      (.codeCap, (5...100).contains(codeCap)), (.undoHours, (0...720).contains(undoHours)),
      (.codeAttemptDays, (1...400).contains(codeAttemptDays)),
      (.actionsPerHour, (1...1_000).contains(actionsPerHour)),
      (.signInGoal, SignInGoal.range.contains(signInGoal)), (.identityProof, isProof),
      (.approvalOverUsers, (0...1_000_000).contains(approvalOverUsers ?? 0)),
      (.policyApproval, (0...1_000_000).contains(policyApprovalOverUsers ?? 0)),
      (.tokenChanges, (1...1_000_000).contains(tokenChangesPerHour ?? 1)),
    ]
    return (settings, inRange.filter { !$0.1 }.map { .outOfRange($0.0) })
  }

  var auditFields: [AuditField] {
    [
      AuditField(.codeCap, .number(codeCap)),
      AuditField(.undoPeriod, .duration(undoHours * 3_600)),
      AuditField(.codeAttemptRetention, .duration(codeAttemptDays * 86_400)),
      AuditField(.temporaryCodes, .flag(temporaryCodes)),
      AuditField(.recoveryCodes, .flag(recoveryCodes)),
      AuditField(.resynchronization, .flag(resynchronization)),
      AuditField(.identityChecks, .optional(identityProof)),
      AuditField(.callerVerificationRule, .code(callerVerification.rawValue)),
      AuditField(.actionsPerHour, .number(actionsPerHour)),
      AuditField(.approvalOver, .optional(approvalOverUsers)),
      AuditField(.policyApprovalOver, .optional(policyApprovalOverUsers)),
      AuditField(.approvalForLastFactor, .flag(approvalForLastFactor)),
      AuditField(.tokensRemoveFactors, .flag(tokensRemoveFactors)),
      AuditField(.tokenChangesPerHour, .optional(tokenChangesPerHour)),
      AuditField(.signInGoal, .number(signInGoal)),
    ]
  }
}

public enum SupportRulesError: Error, Sendable {
  /// A field with a valid range.
  public enum Field: Sendable {
    /// 5 to 100.
    case codeCap
    /// 0 to 720.
    case undoHours
    /// 1 to 400.
    case codeAttemptDays
    /// 1 to 1,000.
    case actionsPerHour
    /// 9,000 to 10,000 hundredths of a percent.
    case signInGoal
    /// 0 to 1,000,000, or empty.
    case approvalOverUsers
    /// 0 to 1,000,000, or empty.
    case policyApproval
    /// 1 to 1,000,000, or empty.
    case tokenChanges
    /// At most ten lines of 120 characters.
    case identityProof
    /// Only an owner can change it.
    case callerVerification
    /// 1 to 240 minutes.
    case stepUp
  }

  /// Someone else changed the rules after the form was opened; these are the present ones.
  case changedMeanwhile(SupportRules)
}

/// Whether agents verify that a caller is the user, with a code sent to the user's email address.
public enum CallerVerification: String, CaseIterable, Sendable, SQLConvertible {
  case off
  case offered
  /// Actions that let someone into an account are denied without a code.
  case required
}
