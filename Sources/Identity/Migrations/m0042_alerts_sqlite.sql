-- Unusual activity in a user pool, from when it began until it was over for a while.
CREATE TABLE alert (
  alert_id INTEGER PRIMARY KEY,
  scope_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  -- The largest count so far: users, or removals in an hour.
  count INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
-- At most one of a kind is ongoing.
CREATE UNIQUE INDEX alert_ongoing ON alert (scope_key, kind) WHERE ended_at IS NULL;
CREATE INDEX alert_by_end ON alert (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX alert_by_scope ON alert (scope_key);
