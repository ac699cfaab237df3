-- From which day on the pattern "mandatory" counts, as 2026-12-01; NULL for at once, and for the
-- other patterns.
ALTER TABLE scope ADD COLUMN mandatory_from TEXT;

-- What of the policy is in force, as one text: policies with the same text have the same effect.
-- `PolicyInForce` is the same rule for people. NULL when the scope was deleted, so that the index
-- alone tells which tenants differ from their project.
ALTER TABLE scope ADD COLUMN policy_in_force TEXT GENERATED ALWAYS AS (
  CASE WHEN deleted_at IS NULL THEN
    CASE WHEN coalesce(totp_state, 1) = 1 THEN 'off'
      ELSE CASE totp_state WHEN 3 THEN 'mandatory ' ELSE 'on ' END || coalesce(totp_intervals, 5)
    END
    || CASE WHEN sms = 1 AND coalesce(mfa_state, 1) >= 2 THEN ', SMS, ' ELSE ', ' END
    || coalesce(pattern, '') || ' ' || coalesce(mandatory_from, '')
  END
) VIRTUAL;
CREATE INDEX scope_by_policy ON scope (project_id, policy_in_force, tenant_id);
