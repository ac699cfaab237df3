-- Code attempts and users over time. A code attempt appends one row to activity_delta; a task adds
-- these rows to the tables below and deletes them, many at a time. Readers add those that are left.
-- Hours and days are counted since 1970, in UTC.
CREATE TABLE activity_delta (
  scope_key INTEGER NOT NULL,
  number INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  -- The outcome of a code, confirmed for a near miss that a correct code followed, or deleted for an
  -- account.
  kind TEXT NOT NULL,
  -- NULL unless the code was of an authenticator app, at sign-in, and matched a near interval.
  distance INTEGER,
  -- account.reach before the change; NULL if it didn't change.
  reach TEXT,
  PRIMARY KEY (scope_key, number)
) STRICT, WITHOUT ROWID;

-- `whole` is 1 for a project with all its tenants, under the key of the project's own pool.
CREATE TABLE activity_hour (
  scope_key INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  outside INTEGER NOT NULL,
  incorrect INTEGER NOT NULL,
  locked INTEGER NOT NULL,
  other INTEGER NOT NULL,
  PRIMARY KEY (scope_key, whole, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE offset_day (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  distance INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  -- Codes outside the window, by whether a correct code followed soon after.
  confirmed INTEGER NOT NULL,
  unconfirmed INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, distance)
) STRICT, WITHOUT ROWID;

-- A user's reach on a day is the largest distance of their accepted codes and confirmed near misses.
-- account.reach has the last days on which it was at least 0, 1, 2, …, in five digits each.
ALTER TABLE account ADD COLUMN reach TEXT;
CREATE TABLE reach_day (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, reach)
) STRICT, WITHOUT ROWID;
-- The number of accounts by the last day on which their reach was at least `reach`.
CREATE TABLE reach_users (
  scope_key INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  day INTEGER NOT NULL,
  users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, reach, day)
) STRICT, WITHOUT ROWID;
-- These accounts, for a reach of 1 and more.
CREATE TABLE reach_account (
  scope_key INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  day INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  PRIMARY KEY (scope_key, reach, day, account_key)
) STRICT, WITHOUT ROWID;

-- The numbers of users at the end of each hour in which they changed.
CREATE TABLE enrollment_hour (
  scope_key INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  users INTEGER NOT NULL,
  enrolled_users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, whole, hour)
) STRICT, WITHOUT ROWID;
-- The pools whose numbers changed since the task last looked. History begins with this migration.
CREATE TABLE enrollment_mark (scope_key INTEGER PRIMARY KEY) STRICT;
INSERT INTO enrollment_mark SELECT scope_key FROM scope WHERE deleted_at IS NULL;
CREATE TRIGGER enrollment_marks_new_scope AFTER INSERT ON scope
BEGIN
  INSERT INTO enrollment_mark (scope_key) VALUES (NEW.scope_key) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER enrollment_marks_scope AFTER UPDATE OF users, enrolled_users, deleted_at ON scope
WHEN OLD.deleted_at IS NULL
BEGIN
  INSERT INTO enrollment_mark (scope_key) VALUES (NEW.scope_key) ON CONFLICT DO NOTHING;
END;

-- For lists of rejected codes; accepted codes are the most, and don't enter it.
CREATE INDEX code_attempt_by_result ON code_attempt (scope_key, result, way, at)
  WHERE result <> 'accepted';

-- Attempts past their retention were counted by day: their hour is the middle of it, which is the
-- same date in most time zones. Their distances included codes that were sent, and aren't used.
INSERT INTO activity_hour (scope_key, whole, hour, accepted, outside, incorrect, locked, other)
SELECT scope_key, 0, hour,
  sum(iif(result IN ('accepted', 'temporary', 'recovery'), count, 0)),
  sum(iif(result IN ('late', 'early'), count, 0)),
  sum(iif(result IN ('wrong', 'used', 'older', 'unreadable', 'expired'), count, 0)),
  sum(iif(result IN ('blocked', 'closed'), count, 0)),
  sum(iif(result = 'suspended', count, 0))
FROM (
  SELECT scope_key, at / 3600000000 AS hour, result, times AS count FROM code_attempt
  UNION ALL SELECT scope_key, day * 24 + 12, result, count FROM code_attempt_count
)
GROUP BY scope_key, hour;
INSERT INTO activity_hour (scope_key, whole, hour, accepted, outside, incorrect, locked, other)
SELECT o.scope_key, 1, h.hour, sum(h.accepted), sum(h.outside), sum(h.incorrect), sum(h.locked),
  sum(h.other)
FROM activity_hour h JOIN scope s USING (scope_key)
JOIN scope o ON o.project_id = s.project_id AND o.tenant_id = ''
GROUP BY o.scope_key, h.hour;
DROP TABLE code_attempt_count;

INSERT INTO offset_day (scope_key, day, distance, accepted, confirmed, unconfirmed)
SELECT scope_key, at / 86400000000, distance, sum(result = 'accepted'),
  sum(result <> 'accepted' AND confirmed = 1), sum(result <> 'accepted' AND confirmed = 0)
FROM code_attempt
WHERE way = 'app' AND distance BETWEEN -10 AND 10 AND result IN ('accepted', 'late', 'early')
GROUP BY 1, 2, 3;

CREATE TABLE user_day (
  scope_key INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  PRIMARY KEY (account_key, day)
) STRICT, WITHOUT ROWID;
INSERT INTO user_day (scope_key, account_key, day, reach)
SELECT scope_key, account_key, at / 86400000000, max(abs(distance)) FROM code_attempt
WHERE way = 'app' AND distance BETWEEN -10 AND 10
  AND (result = 'accepted' OR result IN ('late', 'early') AND confirmed = 1)
GROUP BY account_key, at / 86400000000;
INSERT INTO reach_day (scope_key, day, reach, users)
SELECT scope_key, day, reach, count(*) FROM user_day GROUP BY scope_key, day, reach;
CREATE TABLE user_reach (
  account_key INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  day INTEGER NOT NULL,
  PRIMARY KEY (account_key, reach)
) STRICT, WITHOUT ROWID;
WITH RECURSIVE level (reach) AS (SELECT 0 UNION ALL SELECT reach + 1 FROM level WHERE reach < 10)
INSERT INTO user_reach (account_key, reach, day)
SELECT u.account_key, l.reach, max(u.day) FROM user_day u JOIN level l ON l.reach <= u.reach
GROUP BY u.account_key, l.reach;
INSERT INTO reach_users (scope_key, reach, day, users)
SELECT account_key >> 40, reach, day, count(*) FROM user_reach
GROUP BY account_key >> 40, reach, day;
INSERT INTO reach_account (scope_key, reach, day, account_key)
SELECT account_key >> 40, reach, day, account_key FROM user_reach WHERE reach > 0;
UPDATE account SET reach = (
  SELECT group_concat(printf('%05d', day), '')
  FROM (SELECT day FROM user_reach r WHERE r.account_key = account.account_key ORDER BY r.reach))
WHERE account_key IN (SELECT account_key FROM user_reach);
DROP TABLE user_reach;
DROP TABLE user_day;
