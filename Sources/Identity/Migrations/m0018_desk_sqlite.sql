-- What a user pool asks of those who act for its users; a pool without a row has the defaults, which
-- are Identity's.
CREATE TABLE desk_settings (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key),
  code_cap INTEGER NOT NULL CHECK (code_cap BETWEEN 5 AND 100),
  undo_hours INTEGER NOT NULL CHECK (undo_hours BETWEEN 0 AND 720),
  verdict_days INTEGER NOT NULL CHECK (verdict_days BETWEEN 1 AND 400),
  temporary_codes INTEGER NOT NULL,
  recovery_codes INTEGER NOT NULL,
  -- A line for each thing that an agent makes sure of.
  identity_proof TEXT NOT NULL,
  actions_per_hour INTEGER NOT NULL CHECK (actions_per_hour BETWEEN 1 AND 1000),
  approval_over_users INTEGER CHECK (approval_over_users >= 0),
  approval_for_last_factor INTEGER NOT NULL
) STRICT;

-- What administrators did to users, by which their hour is counted. It is no log: rows older than an
-- hour are of no use, and the log is audit.
CREATE TABLE desk_act (
  act_id INTEGER PRIMARY KEY,
  administrator_id TEXT NOT NULL,
  scope_key INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX desk_act_by_agent ON desk_act (administrator_id, scope_key, at);
CREATE INDEX desk_act_by_age ON desk_act (at);

-- Who did so much in an hour that an owner has to look at it first.
CREATE TABLE desk_hold (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  held_at INTEGER NOT NULL,
  PRIMARY KEY (administrator_id, scope_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX desk_hold_by_scope ON desk_hold (scope_key);

-- Accounts that only owners act on, and those whose user said that a change was none of theirs: since
-- then nobody changes their second factors.
ALTER TABLE account ADD COLUMN protected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN changes_locked_at INTEGER;

-- When a session's administrator last gave a code of their own factor in it.
ALTER TABLE console_session ADD COLUMN proved_at INTEGER;

ALTER TABLE audit ADD COLUMN ticket TEXT;
-- What the agent ticked of the pool's identity proof, a line each.
ALTER TABLE audit ADD COLUMN proof TEXT;
