import Database

extension StateMachine.TableState {
  /// Selects everything that is compared, as names and texts.
  static let query: SQL = """
    SELECT /* test */ 'model factors', (SELECT group_concat(line, char(10)) FROM (
      SELECT a.uid || ' ' || f.enrollment_id || ' ' || f.kind || ' ' || (f.sealed_secret IS NOT NULL)
        || ' ' || ifnull(f.suspended_until, '-') || ' ' || ifnull(f.last_step, '-') AS line
      FROM factor f JOIN account a USING (account_key) ORDER BY 1))
    UNION ALL SELECT 'model removals', (SELECT group_concat(line, char(10)) FROM (
      SELECT a.uid || ' ' || r.enrollment_id || ' ' || r.removal_id || ' ' || r.remover_name || ' '
        || r.until || ' ' || (r.sealed_secret IS NOT NULL) AS line
      FROM removed_factor r JOIN account a USING (account_key) WHERE r.until > 0 ORDER BY 1))
    UNION ALL SELECT 'model ended', (SELECT group_concat(line, char(10)) FROM (
      SELECT a.uid || ' ' || r.enrollment_id || ' ' || r.removal_id || ' '
        || (r.sealed_secret IS NOT NULL) AS line
      FROM removed_factor r JOIN account a USING (account_key) WHERE r.until <= 0 ORDER BY 1))
    UNION ALL SELECT 'model sessions', (SELECT group_concat(line, char(10)) FROM (
      SELECT a.uid || ' ' || lower(hex(s.token_digest)) AS line
      FROM session s JOIN account a USING (account_key)
      WHERE s.generation = a.generation ORDER BY 1))
    UNION ALL SELECT 'model marks', (SELECT group_concat(line, char(10)) FROM (
      SELECT uid || ' ' || protected || ' ' || (changes_locked_at IS NOT NULL) || ' ' || disabled
        || ' ' || wrong_codes || ' ' || ifnull(codes_blocked_until, '-') AS line
      FROM account ORDER BY 1))
    UNION ALL SELECT 'model backup codes', (SELECT group_concat(line, char(10)) FROM (
      SELECT a.uid || ' ' || s.kind || ' ' || (SELECT count(*) FROM backup_code c
        WHERE c.account_key = s.account_key AND c.kind = s.kind) AS line
      FROM backup_code_set s JOIN account a USING (account_key) ORDER BY 1))
    UNION ALL SELECT 'model counts', (SELECT group_concat(line, char(10)) FROM (
      SELECT s.project_id || '/' || s.tenant_id AS line FROM scope s
      WHERE s.users <> (SELECT count(*) FROM account a WHERE a.scope_key = s.scope_key)
        OR s.enrolled_users <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key) WHERE a.scope_key = s.scope_key)
        OR s.totp_users <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key)
          WHERE a.scope_key = s.scope_key AND f.kind = 'totp')
        OR s.phone_users <> (SELECT count(DISTINCT f.account_key)
          FROM factor f JOIN account a USING (account_key)
          WHERE a.scope_key = s.scope_key AND f.kind = 'phone')
        OR s.locked_users <> (SELECT count(*) FROM account a
          WHERE a.scope_key = s.scope_key AND a.codes_blocked_until IS NOT NULL)
        OR s.disabled_users <> (SELECT count(*) FROM account a
          WHERE a.scope_key = s.scope_key AND a.disabled)))
    UNION ALL SELECT 'account', group_concat(quote(uid) || quote(email) || email_verified
      || quote(password_hash) || quote(phone) || disabled || ' ' || valid_since_s || ' ' || generation
      || ' ' || has_totp
      || has_phone || protected || quote(changes_locked_at) || quote(suspended_until), char(10))
      FROM account
    UNION ALL SELECT 'factor', group_concat(account_key || ' ' || position || quote(enrollment_id)
      || kind || quote(display_name) || enrolled_at || quote(last_used_at) || quote(phone)
      || quote(sealed_secret) || quote(last_step) || quote(unused_steps)
      || quote(suspended_until), char(10)) FROM factor
    UNION ALL SELECT 'removed_factor', group_concat(account_key || quote(enrollment_id)
      || quote(removal_id) || removed_at || quote(removed_by) || until || ' ' || position
      || quote(sealed_secret) || quote(last_step) || quote(unused_steps), char(10)) FROM removed_factor
    UNION ALL SELECT 'session', group_concat(hex(session_id) || account_key || ' ' || auth_time_s
      || ' ' || generation,
      char(10)) FROM session
    UNION ALL SELECT 'backup_code_set', group_concat(account_key || kind || quote(sealed_key) || made_at
      || quote(expires_at), char(10)) FROM backup_code_set
    UNION ALL SELECT 'backup_code', group_concat(account_key || kind || hex(code_digest),
      char(10)) FROM backup_code
    UNION ALL SELECT 'user_link', group_concat(hex(link_digest) || quote(used_at), char(10))
      FROM user_link
    UNION ALL SELECT 'oob_code', group_concat(hex(code_digest) || quote(used_at), char(10))
      FROM oob_code
    UNION ALL SELECT 'outbox', count(*) || ' ' || quote(max(message_id)) FROM outbox
    UNION ALL SELECT 'support_rules', group_concat(scope_key || ' ' || code_cap || ' ' || undo_hours
      || ' ' || temporary_codes || recovery_codes || quote(identity_proof) || actions_per_hour
      || ' ' || quote(approval_over_users) || approval_for_last_factor, char(10)) FROM support_rules
    UNION ALL SELECT 'support_action', count(*) || ' ' || quote(max(action_id)) FROM support_action
    UNION ALL SELECT 'support_hold', group_concat(administrator_id || scope_key || ' ' || held_at,
      char(10)) FROM support_hold
    UNION ALL SELECT 'approval', group_concat(approval_id || state || quote(decided_at)
      || quote(decider_name), char(10)) FROM approval
    UNION ALL SELECT 'bulk_job', group_concat(job_id || state || users_done || ' ' || users_removed
      || quote(started_at) || quote(ended_at), char(10)) FROM bulk_job
    UNION ALL SELECT 'bulk_item', group_concat(job_id || ' ' || line || quote(uid)
      || quote(result), char(10)) FROM bulk_item
    UNION ALL SELECT 'user_note', count(*) || ' ' || quote(max(note_id)) FROM user_note
    UNION ALL SELECT 'console_session', group_concat(hex(token_digest) || quote(proved_at),
      char(10)) FROM console_session
    UNION ALL SELECT 'administrator', group_concat(administrator_id || quote(totp_secret)
      || quote(totp_last_step) || quote(totp_unused_steps), char(10)) FROM administrator
    UNION ALL SELECT 'audit', count(*) || ' ' || max(audit_id) FROM audit
    """
}
