-- What stands in for an authenticator app: one temporary code, or a set of recovery codes. The key is
-- drawn for the row and sealed, so that whoever reads the database cannot try codes against digests.
CREATE TABLE stand_in (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('temporary', 'recovery')),
  sealed_key BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  -- NULL for codes that do not run out.
  expires_at INTEGER,
  PRIMARY KEY (account_key, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX stand_in_by_expiry ON stand_in (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE stand_in_code (
  account_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  code_digest BLOB NOT NULL,
  PRIMARY KEY (account_key, kind, code_digest),
  FOREIGN KEY (account_key, kind) REFERENCES stand_in (account_key, kind) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Links in mails to users that lead to pages of ours and not to the application: to set an
-- authenticator app up, or to say that a change was none of theirs. Kept by their digests; used and
-- late ones stay for a while, so that whoever opens one once more is told what became of it.
CREATE TABLE user_link (
  link_digest BLOB PRIMARY KEY,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('enrolment', 'objection')),
  -- What an objection would be to, in words; who has sent a link to enrol.
  about TEXT NOT NULL,
  -- The account's valid_since_s when it was made: a link to enrol ends with the sessions.
  valid_since_s INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX user_link_by_account ON user_link (account_key);
CREATE INDEX user_link_by_expiry ON user_link (expires_at);

-- The few accounts whose user said so.
CREATE INDEX account_by_changes_lock ON account (scope_key, changes_locked_at)
  WHERE changes_locked_at IS NOT NULL;
