import Crypto
import Database

/// A query for the valid rows of a small table, each with a key that includes every value to
/// compare.
struct RevivedList: Sendable {
  let kind: RevivedState.Kind
  let sql: SQL
  /// Opens the secret in the third column with the associated data in the fourth, and adds its digest
  /// to the key: a new master key seals the same secret anew.
  private let sealer: Sealer?

  fileprivate init(kind: RevivedState.Kind, sealer: Sealer? = nil, sql: SQL) {
    (self.kind, self.sealer, self.sql) = (kind, sealer, sql)
  }

  /// Reads the rows of a database.
  func read(_ database: any Database) async throws -> [(key: String, what: String)] {
    try await database.read { connection in
      try connection.all(sql) { row in
        var key: String = try row.value(0)
        if let sealer, let box = try row.value(2) as [UInt8]? {
          let place: String = try row.value(3)
          // What can't be opened is no secret that anyone could use.
          let secret = try? sealer.open(box, with: Array(place.utf8))
          key += " \(secret.map { HashFunction.sha256.digest($0.revealedBytes) } ?? [])"
        }
        return (key: key, what: try row.value(1))
      }
    }
  }

  /// Returns all lists.
  ///
  /// - Parameters:
  ///   - keys: The master keys.
  ///   - present: The time of the newest entry of the replaced database, in microseconds.
  /// - Returns: The lists.
  /// - Throws: `CryptoError` if libcrypto fails.
  static func all(_ keys: KeyRing, at present: Int64) throws -> [RevivedList] {
    let providers = try IdentityProviders.sealer(keys, random: .system)
    let console = try ConsoleProviders.sealer(keys, random: .system)
    return [
      RevivedList(
        kind: .administrator, sql: "SELECT administrator_id, email FROM administrator"),
      RevivedList(
        kind: .role,
        sql: """
          SELECT g.administrator_id || ' ' || g.role || ' ' || g.project_id || ' ' || g.tenant_id
              || ' ' || coalesce(g.ends_at, -1),
            a.email || ': ' || g.role || ' ' || g.project_id || ' ' || g.tenant_id
          FROM administrator_grant g JOIN administrator a USING (administrator_id)
          WHERE g.ends_at IS NULL OR g.ends_at > \(present)
          """),
    ] + simple + [
      RevivedList(
        kind: .identityProvider, sealer: providers,
        sql: """
          SELECT i.scope_key || ' ' || i.provider_id || ' ' || i.issuer || ' ' || i.client_id || ' '
              || i.key_set,
            s.project_id || ' ' || s.tenant_id || ' ' || i.provider_id, i.sealed_secret,
            i.scope_key || ' ' || i.provider_id
          FROM identity_provider i JOIN scope s USING (scope_key) WHERE i.enabled = 1
          """),
      RevivedList(
        kind: .consoleProvider, sealer: console,
        sql: """
          SELECT issuer || ' ' || client_id || ' ' || groups_claim || ' ' || mfa_values, name,
            sealed_secret, \(ConsoleProviders.placeName)
          FROM sign_in_provider
          """),
    ] + settings
  }
}

private let simple = [
  RevivedList(
    kind: .administratorPassword,
    sql: "SELECT administrator_id || ' ' || password_hash, email FROM administrator"),
  RevivedList(
    kind: .administratorFactor,
    sql: """
      SELECT administrator_id || ' ' || totp_enrolled_at, email FROM administrator
      WHERE totp_enrolled_at IS NOT NULL
      UNION ALL
      SELECT p.passkey_id, a.email || ': ' || p.name
      FROM passkey p JOIN administrator a USING (administrator_id)
      """),
  RevivedList(
    kind: .serviceToken,
    sql: """
      SELECT token_id, project_id || ' ' || token_id || ' (' || role || ') ' || name
      FROM service_token WHERE revoked_at IS NULL
      """),
  RevivedList(
    kind: .apiKey,
    sql: "SELECT api_key, project_id || ' …' || substr(api_key, length(api_key) - 3) FROM api_key"),
  RevivedList(
    kind: .trustedTokenKey,
    sql: """
      SELECT trusted_token_key_id, project_id || ' ' || trusted_token_key_id || ' ' || issuer FROM trusted_token_key
      WHERE revoked_at IS NULL
      """),
  RevivedList(
    kind: .signingKey,
    sql: "SELECT key_id, key_id FROM signing_key WHERE verifies_until IS NULL"),
  RevivedList(
    kind: .scope,
    sql: """
      SELECT scope_key || '', project_id || ' ' || tenant_id FROM scope
      WHERE deleted_at IS NULL AND disabled = 0
      """),
  RevivedList(
    kind: .policy,
    sql: """
      SELECT scope_key || ' ' || policy_version, project_id || ' ' || tenant_id FROM scope
      WHERE deleted_at IS NULL
      """),
  RevivedList(
    kind: .projectSettings,
    sql: """
      SELECT project_id || ' ' || allow_tenants || ' ' || email_privacy || ' '
          || allow_duplicate_emails || ' ' || import_totp || ' ' || authorized_domains,
        project_id
      FROM project WHERE deleted_at IS NULL
      """),
  RevivedList(
    kind: .signInSettings,
    sql: """
      SELECT scope_key || ' ' || password || ' ' || email_link || ' ' || anonymous || ' ' || phone
          || ' ' || sign_up_off || ' ' || deletion_off || ' ' || withdrawal_needs_factor || ' '
          || password_enforced || ' ' || password_upgrade || ' ' || password_classes || ' '
          || coalesce(password_shortest, -1) || ' ' || coalesce(password_longest, -1),
        project_id || ' ' || tenant_id
      FROM scope WHERE deleted_at IS NULL
      """),
  RevivedList(
    kind: .supportRules,
    // A pool whose rules were never changed has no row.
    sql: """
      SELECT s.scope_key || ' ' || \(SupportRules.compared.joined(separator: " || ' ' || ")),
        s.project_id || ' ' || s.tenant_id
      FROM scope s LEFT JOIN support_rules r USING (scope_key) WHERE s.deleted_at IS NULL
      """),
  RevivedList(
    kind: .consoleProvider,
    sql: """
      SELECT group_name || ' ' || role || ' ' || project_id || ' ' || tenant_id,
        group_name || ': ' || role || ' ' || project_id || ' ' || tenant_id
      FROM sign_in_provider_role
      """),
]

extension SupportRules {
  /// The values of the columns of the rules, also for a pool without a row.
  fileprivate static let compared: [SQL] = {
    let usual = SupportRules()
    let numbers: [(column: SQL, usual: Int?)] = [
      ("code_cap", usual.codeCap), ("undo_hours", usual.undoHours),
      ("code_attempt_days", usual.codeAttemptDays),
      ("temporary_codes", usual.temporaryCodes ? 1 : 0),
      ("recovery_codes", usual.recoveryCodes ? 1 : 0),
      ("actions_per_hour", usual.actionsPerHour),
      ("approval_over_users", usual.approvalOverUsers),
      ("approval_for_last_factor", usual.approvalForLastFactor ? 1 : 0),
      ("token_removal", usual.tokensRemoveFactors ? 1 : 0),
      ("token_changes_per_hour", usual.tokenChangesPerHour),
      ("policy_approval_over", usual.policyApprovalOverUsers), ("sign_in_goal", usual.signInGoal),
    ]
    let texts: [(column: SQL, usual: String)] = [
      ("caller_verification", usual.callerVerification.rawValue),
      ("identity_proof", usual.identityProof.joined(separator: "\n")),
    ]
    return numbers.map { column, usual -> SQL in "coalesce(\(column), \(usual ?? -1))" }
      + texts.map { column, usual -> SQL in "coalesce(\(column), \(usual))" }
  }()
}

// The table has no row for what nobody changed.
private let settings = [
  RevivedList(
    kind: .passwordSignIn,
    sql: """
      SELECT coalesce(max(value), ''), CASE WHEN max(value) IS NULL THEN 'on' ELSE 'off' END
      FROM instance WHERE name = \(PasswordSignIn.setting.name)
      """),
  RevivedList(
    kind: .passkeyRequirement,
    sql: """
      SELECT coalesce(max(value), ''), CASE WHEN max(value) IS NULL THEN 'off' ELSE 'on' END
      FROM instance WHERE name = \(PasskeyRequirement.setting.name)
      """),
  RevivedList(
    kind: .secondFactorRequirement,
    sql: """
      SELECT coalesce(max(value), ''), CASE WHEN max(value) IS NULL THEN 'off' ELSE 'on' END
      FROM instance WHERE name = \(SessionLimits.secondFactor.name)
      """),
  number(.idleLimit, SessionLimits.idle, standard: SessionLimits.standard.idleMinutes),
  number(.sessionLimit, SessionLimits.lifetime, standard: SessionLimits.standard.hours),
  number(.reauthentication, Support.stepUp, standard: Support.usualStepUp),
]

/// The list with a number of minutes or hours, which is the standard one if nobody changed it.
private func number(
  _ kind: RevivedState.Kind, _ setting: InstanceValue, standard: Int
) -> RevivedList {
  RevivedList(
    kind: kind,
    sql: """
      SELECT coalesce(max(value), \(String(standard))), coalesce(max(value), \(String(standard)))
      FROM instance WHERE name = \(setting.name)
      """)
}
