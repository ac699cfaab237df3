-- Removals of the second factors of many users at once: a list that somebody pasted, who decided it
-- and why, and how far it is. A draft is a list that was looked at and not decided; only its maker
-- sees it, and it is forgotten after an hour.
CREATE TABLE bulk_job (
  job_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  state TEXT NOT NULL CHECK (state IN ('draft', 'waiting', 'running', 'done', 'stopped')),
  administrator_id TEXT NOT NULL,
  administrator_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  -- How many lines the list has, how many of them are users to act on, and how many factors those had
  -- when the list was looked at.
  lines INTEGER NOT NULL DEFAULT 0,
  users INTEGER NOT NULL DEFAULT 0,
  factors INTEGER NOT NULL DEFAULT 0,
  -- How many of those users were come to, and what was done.
  users_done INTEGER NOT NULL DEFAULT 0,
  users_removed INTEGER NOT NULL DEFAULT 0,
  factors_removed INTEGER NOT NULL DEFAULT 0,
  sessions_ended INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  note TEXT,
  ticket TEXT,
  proof TEXT,
  -- Who approved it, where that was needed.
  approver_name TEXT,
  -- Why it ended before its end, and by whom.
  ending TEXT
) STRICT;
CREATE INDEX bulk_job_of_scope ON bulk_job (scope_key, job_id);
CREATE INDEX bulk_job_running ON bulk_job (state, job_id) WHERE state = 'running';
CREATE INDEX bulk_job_drafts ON bulk_job (created_at) WHERE state = 'draft';
CREATE INDEX bulk_job_ended ON bulk_job (ended_at) WHERE ended_at IS NOT NULL;

-- A line of such a list. It has no result as long as its user is to be come to; the result is written
-- with the removal itself, so that nothing is done twice.
CREATE TABLE bulk_item (
  job_id INTEGER NOT NULL REFERENCES bulk_job (job_id) ON DELETE CASCADE,
  line INTEGER NOT NULL,
  given TEXT NOT NULL,
  uid TEXT,
  -- The enrolment ids that the user had when the list was looked at, with blanks between.
  factors TEXT NOT NULL,
  result TEXT,
  removed INTEGER NOT NULL DEFAULT 0,
  sessions INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_item_by_result ON bulk_item (job_id, result, line);

-- What waits for a second administrator, or did: the removal of factors of one account, or a job.
CREATE TABLE approval (
  approval_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  kind TEXT NOT NULL CHECK (kind IN ('factor', 'factors', 'job')),
  -- The account and its name then; empty for a job.
  uid TEXT NOT NULL,
  user_name TEXT NOT NULL,
  -- The enrolment ids that go, with blanks between; their names, a line each; and all that the account
  -- had, for any other number of them means that something has changed.
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
CREATE INDEX approval_waiting ON approval (approval_id) WHERE state = 'waiting';
CREATE INDEX approval_expiry ON approval (expires_at) WHERE state = 'waiting';
CREATE INDEX approval_decided ON approval (decided_at, approval_id) WHERE decided_at IS NOT NULL;
CREATE INDEX approval_of_user ON approval (scope_key, uid, approval_id);
CREATE INDEX approval_of_job ON approval (job_id) WHERE job_id IS NOT NULL;
