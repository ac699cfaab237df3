-- Servers write at the same time, and none of these writes may wait for a row that every other one changes.

-- The database chooses the numbers of pending changes, so that the next one doesn't depend on the last.
CREATE TABLE earlier_delta AS
  SELECT scope_key, number, account_key, hour, kind, distance, reach FROM activity_delta;
DROP TABLE activity_delta;
CREATE TABLE activity_delta (
  number INTEGER PRIMARY KEY,
  scope_key INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  -- The outcome of a code, confirmed for a near miss that a correct code followed, or deleted for an
  -- account.
  kind TEXT NOT NULL,
  -- NULL unless the code was of an authenticator app, at sign-in, and matched a near interval.
  distance INTEGER,
  -- account.reach before the change; NULL if it didn't change.
  reach TEXT
) STRICT;
INSERT INTO activity_delta (scope_key, account_key, hour, kind, distance, reach)
  SELECT scope_key, account_key, hour, kind, distance, reach FROM earlier_delta
  ORDER BY scope_key, number;
DROP TABLE earlier_delta;
CREATE INDEX activity_delta_by_scope ON activity_delta (scope_key, number);

-- Changes of the numbers of users that a task adds to scope, and thereby to project, many at a time. Readers
-- add those that are left.
CREATE TABLE count_change (
  number INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  scope_key INTEGER NOT NULL,
  users INTEGER NOT NULL,
  enrolled_users INTEGER NOT NULL,
  unverified_users INTEGER NOT NULL,
  disabled_users INTEGER NOT NULL,
  totp_users INTEGER NOT NULL,
  phone_users INTEGER NOT NULL,
  locked_users INTEGER NOT NULL
) STRICT;
CREATE INDEX count_change_by_scope ON count_change (project_id, scope_key);
