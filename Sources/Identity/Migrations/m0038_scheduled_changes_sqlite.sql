-- Changes of MFA policies that take effect at a set time, and how each of them ended.
CREATE TABLE scheduled_change (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- The version that the change is based on, and the policy afterward.
  policy_version INTEGER NOT NULL,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT,
  author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT,
  approver_name TEXT,
  scheduled_at INTEGER NOT NULL,
  apply_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'canceled', 'failed')),
  ended_at INTEGER,
  canceler_name TEXT,
  failure TEXT
) STRICT;
CREATE INDEX scheduled_change_due ON scheduled_change (apply_at) WHERE state = 'waiting';
CREATE INDEX scheduled_change_of_scope ON scheduled_change (scope_key, change_id);

-- When an approved policy takes effect; NULL for immediately.
ALTER TABLE approval_policy ADD COLUMN apply_at INTEGER;
