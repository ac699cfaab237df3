-- Windows that were widened and not narrowed back: one row for each pool.
CREATE TABLE policy_widening (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  intervals_before INTEGER NOT NULL,
  intervals_after INTEGER NOT NULL,
  author_name TEXT NOT NULL
) STRICT;
CREATE INDEX policy_widening_by_time ON policy_widening (at);
