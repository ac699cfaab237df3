-- Erasures of the data of a user. The account is gone with the row's first write; the audit log is
-- erased afterwards, in parts, and until then the row has what to look for. Then only numbers stay.
CREATE TABLE user_erasure (
  erasure_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL,
  requested_at INTEGER NOT NULL,
  -- The last entry of the audit log that may be about the user, and the last one that was read.
  last_entry INTEGER NOT NULL,
  read_entry INTEGER NOT NULL DEFAULT 0,
  -- The UID, addresses, phone numbers, and names, as JSON; NULL once the log is erased.
  identifiers TEXT,
  -- How many entries of the log had parts that were erased, and how many parts.
  entries INTEGER NOT NULL DEFAULT 0,
  parts INTEGER NOT NULL DEFAULT 0,
  -- When no copy of the data was left in the file either.
  finished_at INTEGER
) STRICT;
CREATE INDEX user_erasure_pending ON user_erasure (erasure_id) WHERE finished_at IS NULL;

-- Sessions stay for a while after their account was deleted.
CREATE INDEX session_by_deleted_uid ON session (deleted_uid) WHERE deleted_uid IS NOT NULL;
