-- Reviews of a project's policies that an administrator signed off.
CREATE TABLE sign_off (
  sign_off_id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL,
  signed_at INTEGER NOT NULL,
  reviewer_id TEXT NOT NULL,
  reviewer_name TEXT NOT NULL,
  note TEXT NOT NULL,
  -- The day of the next review, as 2026-12-31.
  due_on TEXT NOT NULL,
  -- The SHA-256 digest of the policies of all pools, how many there were, and the stamp that the
  -- project had: policies with the same stamp are the same.
  digest BLOB NOT NULL,
  pools INTEGER NOT NULL,
  policy_stamp INTEGER NOT NULL,
  -- Whether it's the project's latest.
  latest INTEGER NOT NULL,
  -- When the reviewer was reminded that the next review is due.
  reminded_at INTEGER
) STRICT;
CREATE INDEX sign_off_by_project ON sign_off (project_id, sign_off_id);
CREATE INDEX sign_off_by_due_day ON sign_off (due_on) WHERE latest = 1;

-- Users who may do without a second factor for a while. Ended ones stay, since whoever granted the
-- last one can't grant the next.
CREATE TABLE exemption (
  exemption_id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  grantor_id TEXT NOT NULL,
  grantor_name TEXT NOT NULL,
  -- When it ends, or was ended early.
  ends_at INTEGER NOT NULL
) STRICT;
CREATE INDEX exemption_by_account ON exemption (account_key, exemption_id);
CREATE INDEX exemption_by_end ON exemption (ends_at, account_key);

-- Keys that sign evidence files. They're retired, but never deleted: an old file can always be
-- checked.
CREATE TABLE evidence_key (
  key_id TEXT PRIMARY KEY,
  public_key BLOB NOT NULL,
  sealed_key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;
