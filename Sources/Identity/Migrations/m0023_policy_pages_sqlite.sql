-- A change of a project's policy writes its pool's row; what hangs on it lies there too, so that a
-- commit writes fewer pages.

-- The stamp, on the row of the project's own pool and no longer on the project's.
ALTER TABLE scope ADD COLUMN policy_stamp INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET policy_stamp =
  (SELECT p.policy_stamp FROM project p WHERE p.project_id = scope.project_id)
WHERE tenant_id = '';
DROP TRIGGER project_stamps_new_scope;
DROP TRIGGER project_stamps_scope;
ALTER TABLE project DROP COLUMN policy_stamp;

CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

CREATE TRIGGER scope_stamps AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

-- Only tenants are asked for by their policy.
DROP INDEX scope_by_policy;
CREATE INDEX scope_by_policy ON scope (project_id, policy_in_force, tenant_id)
  WHERE tenant_id <> '';
