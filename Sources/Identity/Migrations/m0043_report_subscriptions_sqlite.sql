-- Reports about a pool that an administrator gets by email, each with the time of the next email.
CREATE TABLE report_subscription (
  subscription_id INTEGER PRIMARY KEY AUTOINCREMENT,
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  report TEXT NOT NULL,
  rhythm TEXT NOT NULL CHECK (rhythm IN ('weekly', 'monthly')),
  next_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX report_subscription_by_administrator
  ON report_subscription (administrator_id, scope_key, report);
CREATE INDEX report_subscription_due ON report_subscription (next_at);
CREATE INDEX report_subscription_by_scope ON report_subscription (scope_key);
