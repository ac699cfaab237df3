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
