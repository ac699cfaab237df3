-- The stamp changes with each policy, but `has_differing` rarely does: writing it each time would also
-- write the index of the projects that differ.
DROP TRIGGER scope_stamps_new;
CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
  UPDATE scope SET has_differing = 1 - has_differing
  WHERE project_id = NEW.project_id AND tenant_id = '' AND has_differing <> (
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force));
END;

-- A statement that advances the stamp itself doesn't write the row twice.
DROP TRIGGER scope_stamps;
CREATE TRIGGER scope_stamps AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
WHEN OLD.policy_stamp = NEW.policy_stamp
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

CREATE TRIGGER scope_differs AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
WHEN EXISTS (SELECT 1 FROM scope WHERE project_id = NEW.project_id AND tenant_id <> '')
BEGIN
  UPDATE scope SET has_differing = 1 - has_differing
  WHERE project_id = NEW.project_id AND tenant_id = '' AND has_differing <> (
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force));
END;
