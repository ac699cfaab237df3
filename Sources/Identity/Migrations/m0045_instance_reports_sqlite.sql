-- Whether a tenant's policy differs from the project's, on the row of the project's own pool, so that
-- these projects are found among thousands.
ALTER TABLE scope ADD COLUMN has_differing INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET has_differing = EXISTS (
  SELECT 1 FROM scope t WHERE t.project_id = scope.project_id AND t.tenant_id <> ''
    AND t.policy_in_force <> scope.policy_in_force)
WHERE tenant_id = '';
CREATE INDEX scope_differing ON scope (project_id) WHERE has_differing = 1;

DROP TRIGGER scope_stamps_new;
CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1, has_differing =
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force)
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

DROP TRIGGER scope_stamps;
CREATE TRIGGER scope_stamps AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1, has_differing =
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force)
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

-- Reports about a project with its tenants, and about all projects, are sent by email too.
CREATE TABLE report_subscription_next (
  subscription_id INTEGER PRIMARY KEY AUTOINCREMENT,
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  subject TEXT NOT NULL CHECK (subject IN ('pool', 'project', 'instance')),
  scope_key INTEGER REFERENCES scope (scope_key),
  report TEXT NOT NULL,
  rhythm TEXT NOT NULL CHECK (rhythm IN ('weekly', 'monthly')),
  next_at INTEGER NOT NULL,
  CHECK ((scope_key IS NULL) = (subject = 'instance'))
) STRICT;
INSERT INTO report_subscription_next
  SELECT subscription_id, administrator_id, 'pool', scope_key, report, rhythm, next_at
  FROM report_subscription;
DROP TABLE report_subscription;
ALTER TABLE report_subscription_next RENAME TO report_subscription;
CREATE UNIQUE INDEX report_subscription_by_administrator
  ON report_subscription (administrator_id, subject, scope_key, report);
CREATE INDEX report_subscription_due ON report_subscription (next_at);
CREATE INDEX report_subscription_by_scope ON report_subscription (scope_key);
