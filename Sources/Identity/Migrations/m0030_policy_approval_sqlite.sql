-- Policies that were weakened and aren't as strict again: who did it, why, and the policy before.
CREATE TABLE policy_weakening (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  author_name TEXT NOT NULL,
  reason TEXT,
  -- When owners were last sent an email about it.
  notified_at INTEGER,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT
) STRICT;
CREATE INDEX policy_weakening_by_time ON policy_weakening (at);
INSERT INTO policy_weakening (scope_key, at, author_name, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from)
SELECT w.scope_key, w.at, w.author_name, s.mfa_state, s.sms, s.totp_state, w.intervals_before,
  s.pattern, s.mandatory_from
FROM policy_widening w JOIN scope s USING (scope_key) WHERE s.totp_state IS NOT NULL;
DROP TABLE policy_widening;

-- Why the policy was last changed, where a reason was given.
ALTER TABLE scope ADD COLUMN policy_reason TEXT;

-- Above how many affected users a second administrator approves a weaker policy; NULL for never.
ALTER TABLE desk_settings ADD COLUMN policy_approval_over INTEGER;

-- A request can be about a policy.
CREATE TABLE approval_next (
  approval_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  kind TEXT NOT NULL CHECK (kind IN ('factor', 'factors', 'job', 'policy')),
  -- The account and its name then; empty for a job and a policy.
  uid TEXT NOT NULL,
  user_name TEXT NOT NULL,
  -- The enrollment ids that are removed, separated by spaces; their names, one per line; and every
  -- enrollment id that the account had, since any other set means that something has changed.
  factors TEXT NOT NULL,
  factor_names TEXT NOT NULL,
  all_factors TEXT NOT NULL,
  job_id INTEGER REFERENCES bulk_job (job_id) ON DELETE CASCADE,
  users INTEGER NOT NULL,
  cause TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  requester_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  proof TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('waiting', 'approved', 'refused', 'withdrawn', 'expired', 'overtaken')),
  decided_at INTEGER,
  decider_id TEXT,
  decider_name TEXT,
  -- What the decider wrote, or why nothing was done.
  answer TEXT
) STRICT;
INSERT INTO approval_next SELECT approval_id, scope_key, kind, uid, user_name, factors,
  factor_names, all_factors, job_id, users, cause, requester_id, requester_name, address,
  request_id, reason, note, ticket, proof, requested_at, expires_at, state, decided_at, decider_id,
  decider_name, answer
FROM approval;
DROP TABLE approval;
ALTER TABLE approval_next RENAME TO approval;
CREATE INDEX approval_waiting ON approval (approval_id) WHERE state = 'waiting';
CREATE INDEX approval_expiry ON approval (expires_at) WHERE state = 'waiting';
CREATE INDEX approval_decided ON approval (decided_at, approval_id) WHERE decided_at IS NOT NULL;
CREATE INDEX approval_of_user ON approval (scope_key, uid, approval_id);
CREATE INDEX approval_of_job ON approval (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX approval_of_policy ON approval (scope_key) WHERE kind = 'policy' AND state = 'waiting';

-- The policy that such a request asks for, and the version it replaces.
CREATE TABLE approval_policy (
  approval_id INTEGER PRIMARY KEY REFERENCES approval (approval_id) ON DELETE CASCADE,
  policy_version INTEGER NOT NULL,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT
) STRICT;
