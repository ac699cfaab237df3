-- A bulk removal of users of several pools. Each pool has a job of its own, because its support rules,
-- its approvals, and its audit log are its own.
CREATE TABLE bulk_group (
  group_id INTEGER PRIMARY KEY AUTOINCREMENT,
  administrator_id TEXT NOT NULL,
  administrator_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  lines INTEGER NOT NULL
) STRICT;
CREATE INDEX bulk_group_by_creation ON bulk_group (created_at);
ALTER TABLE bulk_job ADD COLUMN group_id INTEGER REFERENCES bulk_group (group_id);
CREATE INDEX bulk_job_of_group ON bulk_job (group_id, job_id) WHERE group_id IS NOT NULL;

-- A line that no job has: no user was found, or the user's pool is one that the requester can see and
-- can't act in. The pool is 0 if no user was found.
CREATE TABLE bulk_group_line (
  group_id INTEGER NOT NULL REFERENCES bulk_group (group_id) ON DELETE CASCADE,
  line INTEGER NOT NULL,
  scope_key INTEGER NOT NULL,
  given TEXT NOT NULL,
  uid TEXT,
  PRIMARY KEY (group_id, line, scope_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_group_line_of_scope ON bulk_group_line (scope_key);

-- How the removal for a line can be undone, and until when.
ALTER TABLE bulk_item ADD COLUMN removal_id TEXT;
ALTER TABLE bulk_item ADD COLUMN undo_until INTEGER;

-- The undo of a job: another administrator's, with a reason. It's running until it has ended.
CREATE TABLE bulk_undo (
  job_id INTEGER PRIMARY KEY REFERENCES bulk_job (job_id) ON DELETE CASCADE,
  administrator_id TEXT NOT NULL,
  administrator_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  proof TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX bulk_undo_running ON bulk_undo (job_id) WHERE ended_at IS NULL;
