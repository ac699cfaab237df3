import Database
import TestDatabases

@testable import Identity

extension StateMachine.TableState {
  /// Selects everything that is compared, as names and texts.
  static let query: SQL = """
    SELECT /* test */ 'model factors', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT a.uid || ' ' || f.enrollment_id || ' ' || f.kind || ' ' || CASE WHEN f.sealed_secret IS NULL THEN 0 ELSE 1 END
        || ' ' || coalesce(CAST(f.suspended_until AS TEXT), '-') || ' ' || coalesce(CAST(f.last_step AS TEXT), '-') AS line
      FROM factor f JOIN account a USING (account_key) ORDER BY 1) AS found)
    UNION ALL SELECT 'model removals', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT a.uid || ' ' || r.enrollment_id || ' ' || r.removal_id || ' ' || r.remover_name || ' '
        || r.until || ' ' || CASE WHEN r.sealed_secret IS NULL THEN 0 ELSE 1 END AS line
      FROM removed_factor r JOIN account a USING (account_key) WHERE r.until > 0 ORDER BY 1) AS found)
    UNION ALL SELECT 'model ended', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT a.uid || ' ' || r.enrollment_id || ' ' || r.removal_id || ' '
        || CASE WHEN r.sealed_secret IS NULL THEN 0 ELSE 1 END AS line
      FROM removed_factor r JOIN account a USING (account_key) WHERE r.until <= 0 ORDER BY 1) AS found)
    UNION ALL SELECT 'model sessions', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT a.uid || ' ' || \(.hex("s.token_digest")) AS line
      FROM session s JOIN account a USING (account_key)
      WHERE s.generation = a.generation ORDER BY 1) AS found)
    UNION ALL SELECT 'model marks', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT uid || ' ' || protected || ' ' || CASE WHEN changes_locked_at IS NULL THEN 0 ELSE 1 END || ' ' || disabled
        || ' ' || wrong_codes || ' ' || coalesce(CAST(codes_blocked_until AS TEXT), '-') AS line
      FROM account ORDER BY 1) AS found)
    UNION ALL SELECT 'model backup codes', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT a.uid || ' ' || s.kind || ' ' || (SELECT count(*) FROM backup_code c
        WHERE c.account_key = s.account_key AND c.kind = s.kind) AS line
      FROM backup_code_set s JOIN account a USING (account_key) ORDER BY 1) AS found)
    UNION ALL SELECT 'model counts', (SELECT \(.lines)(line, \(.lineBreak)) FROM (
      SELECT s.project_id || '/' || s.tenant_id AS line FROM scope s
      WHERE \(AccountCounts.current("users")) <> (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key)
        OR \(AccountCounts.current("enrolled_users")) <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key) WHERE a.scope_key = s.scope_key)
        OR \(AccountCounts.current("totp_users")) <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key)
          WHERE a.scope_key = s.scope_key AND f.kind = 'totp')
        OR \(AccountCounts.current("phone_users")) <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key)
          WHERE a.scope_key = s.scope_key AND f.kind = 'phone')
        OR \(AccountCounts.current("locked_users")) <> (SELECT count(*) FROM account a
          WHERE a.scope_key = s.scope_key AND a.codes_blocked_until IS NOT NULL)
        OR \(AccountCounts.current("disabled_users")) <> (SELECT count(*) FROM account a
          WHERE a.scope_key = s.scope_key AND a.disabled = 1)) AS found)
    UNION ALL SELECT 'account', \(.lines)(\(.quote)(uid) || \(.quote)(email) || email_verified
      || \(.quote)(password_hash) || \(.quote)(phone) || disabled || ' ' || valid_since_s || ' ' || generation
      || ' ' || has_totp
      || has_phone || protected || \(.quote)(changes_locked_at) || \(.quote)(suspended_until), \(.lineBreak))
      FROM account
    UNION ALL SELECT 'factor', \(.lines)(account_key || ' ' || position || \(.quote)(enrollment_id)
      || kind || \(.quote)(display_name) || enrolled_at || \(.quote)(last_used_at) || \(.quote)(phone)
      || \(.quote)(sealed_secret) || \(.quote)(last_step) || \(.quote)(unused_steps)
      || \(.quote)(suspended_until), \(.lineBreak)) FROM factor
    UNION ALL SELECT 'removed_factor', \(.lines)(account_key || \(.quote)(enrollment_id)
      || \(.quote)(removal_id) || removed_at || \(.quote)(removed_by) || until || ' ' || position
      || \(.quote)(sealed_secret) || \(.quote)(last_step) || \(.quote)(unused_steps), \(.lineBreak)) FROM removed_factor
    UNION ALL SELECT 'session', \(.lines)(\(.hex("session_id")) || account_key || ' ' || auth_time_s
      || ' ' || generation,
      \(.lineBreak)) FROM session
    UNION ALL SELECT 'backup_code_set', \(.lines)(account_key || kind || \(.quote)(sealed_key) || made_at
      || \(.quote)(expires_at), \(.lineBreak)) FROM backup_code_set
    UNION ALL SELECT 'backup_code', \(.lines)(account_key || kind || \(.hex("code_digest")),
      \(.lineBreak)) FROM backup_code
    UNION ALL SELECT 'user_link', \(.lines)(\(.hex("link_digest")) || \(.quote)(used_at), \(.lineBreak))
      FROM user_link
    UNION ALL SELECT 'oob_code', \(.lines)(\(.hex("code_digest")) || \(.quote)(used_at), \(.lineBreak))
      FROM oob_code
    UNION ALL SELECT 'outbox', count(*) || ' ' || \(.quote)(max(message_id)) FROM outbox
    UNION ALL SELECT 'support_rules', \(.lines)(scope_key || ' ' || code_cap || ' ' || undo_hours
      || ' ' || temporary_codes || recovery_codes || \(.quote)(identity_proof) || actions_per_hour
      || ' ' || \(.quote)(approval_over_users) || approval_for_last_factor, \(.lineBreak)) FROM support_rules
    UNION ALL SELECT 'support_action', count(*) || ' ' || \(.quote)(max(action_id)) FROM support_action
    UNION ALL SELECT 'support_hold', \(.lines)(administrator_id || scope_key || ' ' || held_at,
      \(.lineBreak)) FROM support_hold
    UNION ALL SELECT 'approval', \(.lines)(approval_id || state || \(.quote)(decided_at)
      || \(.quote)(decider_name), \(.lineBreak)) FROM approval
    UNION ALL SELECT 'bulk_job', \(.lines)(job_id || state || users_done || ' ' || users_removed
      || \(.quote)(started_at) || \(.quote)(ended_at), \(.lineBreak)) FROM bulk_job
    UNION ALL SELECT 'bulk_item', \(.lines)(job_id || ' ' || line || \(.quote)(uid)
      || \(.quote)(result), \(.lineBreak)) FROM bulk_item
    UNION ALL SELECT 'console_session', \(.lines)(\(.hex("token_digest")) || \(.quote)(proved_at),
      \(.lineBreak)) FROM console_session
    UNION ALL SELECT 'administrator', \(.lines)(administrator_id || \(.quote)(totp_secret)
      || \(.quote)(totp_last_step) || \(.quote)(totp_unused_steps), \(.lineBreak)) FROM administrator
    UNION ALL SELECT 'audit', count(*) || ' ' || max(audit_id) FROM audit
    """
}

extension SQL {
  /// The name of the aggregate function that joins texts.
  fileprivate static let lines: SQL = TestDatabase.isSQLite ? "group_concat" : "string_agg"

  fileprivate static let lineBreak: SQL = TestDatabase.isSQLite ? "char(10)" : "chr(10)"

  /// The name of the function that returns the literal of a value.
  fileprivate static let quote: SQL = TestDatabase.isSQLite ? "quote" : "quote_nullable"

  /// Returns the hexadecimal digits of the bytes in a column, in lowercase.
  fileprivate static func hex(_ column: SQL) -> SQL {
    TestDatabase.isSQLite ? "lower(hex(\(column)))" : "encode(\(column), 'hex')"
  }
}
