-- What became of each code that a user gave, without the code. The rows of a scope lie in the order
-- of time: what sign-ins add lies together, and what is too old is a range. The rows of one account
-- are a chain by `previous` that begins with account.last_verdict_at, so that a sign-in writes no
-- index; `at` is never twice the same for one account.
CREATE TABLE verdict (
  scope_key INTEGER NOT NULL,
  at INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  previous INTEGER,
  -- What the code was given for: app, phone or enrolment.
  way TEXT NOT NULL,
  result TEXT NOT NULL,
  enrolment_id TEXT,
  -- The adjacent intervals that were accepted; NULL where there is no window.
  intervals INTEGER,
  -- How many steps from now the code was (negative: late), and its step; NULL when it was none near.
  distance INTEGER,
  step INTEGER,
  -- 1 for a code beyond the window whose user gave a right one soon after.
  confirmed INTEGER NOT NULL DEFAULT 0,
  -- Codes that are not looked at are counted in one row.
  times INTEGER NOT NULL DEFAULT 1,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  PRIMARY KEY (scope_key, at, account_key)
) STRICT, WITHOUT ROWID;
ALTER TABLE account ADD COLUMN last_verdict_at INTEGER;

-- What is left of verdicts that are older than their scope keeps them: `day` in days since 1970.
CREATE TABLE verdict_count (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  result TEXT NOT NULL,
  distance INTEGER NOT NULL DEFAULT 0,
  count INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, result, distance)
) STRICT, WITHOUT ROWID;

-- account.codes_blocked_until is NULL again soon after it has passed, and 253402300799999999, the
-- last moment there is, once too many codes in a row were wrong. Whoever has one is locked.
CREATE INDEX account_lock_end ON account (codes_blocked_until)
  WHERE codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked ON account (scope_key) WHERE codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_email ON account (scope_key, ifnull(email_folded, x'FF'))
  WHERE codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_name ON account (scope_key, ifnull(name_folded, x'FF'))
  WHERE codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_login ON account (scope_key, last_login_day)
  WHERE codes_blocked_until IS NOT NULL;
-- Counted with every change, as users and enrolled_users are.
ALTER TABLE scope ADD COLUMN locked_users INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET locked_users = (SELECT count(*) FROM account a
  WHERE a.scope_key = scope.scope_key AND a.codes_blocked_until IS NOT NULL);
