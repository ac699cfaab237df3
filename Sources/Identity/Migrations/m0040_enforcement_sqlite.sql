-- Whether the server enforces mandatory enrollment: 'claim' or 'refuse', the first day as
-- 2026-12-01, and the days that each user has from then on. All three are NULL if it doesn't.
ALTER TABLE scope ADD COLUMN enforcement TEXT;
ALTER TABLE scope ADD COLUMN enforced_from TEXT;
ALTER TABLE scope ADD COLUMN grace_days INTEGER;
ALTER TABLE policy_weakening ADD COLUMN enforcement TEXT;
ALTER TABLE policy_weakening ADD COLUMN enforced_from TEXT;
ALTER TABLE policy_weakening ADD COLUMN grace_days INTEGER;
ALTER TABLE approval_policy ADD COLUMN enforcement TEXT;
ALTER TABLE approval_policy ADD COLUMN enforced_from TEXT;
ALTER TABLE approval_policy ADD COLUMN grace_days INTEGER;
ALTER TABLE scheduled_change ADD COLUMN enforcement TEXT;
ALTER TABLE scheduled_change ADD COLUMN enforced_from TEXT;
ALTER TABLE scheduled_change ADD COLUMN grace_days INTEGER;
ALTER TABLE policy_template ADD COLUMN enforcement TEXT;
ALTER TABLE policy_template ADD COLUMN enforced_from TEXT;
ALTER TABLE policy_template ADD COLUMN grace_days INTEGER;

-- A project's stamp grows with these columns too.
DROP TRIGGER scope_stamps;
CREATE TRIGGER scope_stamps AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

-- What of the policy is in force, now with the enforcement; see `PolicyInForce`.
DROP INDEX scope_by_policy;
ALTER TABLE scope DROP COLUMN policy_in_force;
ALTER TABLE scope ADD COLUMN policy_in_force TEXT GENERATED ALWAYS AS (
  CASE WHEN deleted_at IS NULL THEN
    CASE WHEN coalesce(totp_state, 1) = 1 THEN 'off'
      ELSE CASE totp_state WHEN 3 THEN 'mandatory ' ELSE 'on ' END || coalesce(totp_intervals, 5)
    END
    || CASE WHEN sms = 1 AND coalesce(mfa_state, 1) >= 2 THEN ', SMS, ' ELSE ', ' END
    || coalesce(pattern, '') || ' ' || coalesce(mandatory_from, '')
    || coalesce(', ' || enforcement || ' ' || enforced_from || ' ' || grace_days, '')
  END
) VIRTUAL;
CREATE INDEX scope_by_policy ON scope (project_id, policy_in_force, tenant_id)
  WHERE tenant_id <> '';
