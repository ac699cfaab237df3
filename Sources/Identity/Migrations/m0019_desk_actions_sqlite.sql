-- Until when the codes of a factor are refused, though one is due: it is lost and may turn up again.
ALTER TABLE factor ADD COLUMN suspended_until INTEGER;
-- The latest of those of its factors, for lists.
ALTER TABLE account ADD COLUMN suspended_until INTEGER;

-- Factors that were removed at the desk, as they were, for as long as another administrator may take
-- that back. A removal of several has one id. Whatever ends it takes the secret at once and leaves a
-- row with until = 0, for the log's sake, which the next tidying takes away.
CREATE TABLE removed_factor (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  enrolment_id TEXT NOT NULL,
  removal_id TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  removed_by TEXT NOT NULL,
  remover_name TEXT NOT NULL,
  until INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  display_name TEXT,
  enrolled_at INTEGER NOT NULL,
  last_used_at INTEGER,
  phone TEXT,
  sealed_secret BLOB,
  last_step INTEGER,
  suspended_until INTEGER,
  PRIMARY KEY (account_key, enrolment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_factor_by_end ON removed_factor (until);

-- What agents tell each other about a user.
CREATE TABLE user_note (
  note_id INTEGER PRIMARY KEY,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  written_at INTEGER NOT NULL,
  author_name TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX user_note_by_account ON user_note (account_key, note_id);

-- The messages about one account, on its page.
CREATE INDEX outbox_by_account ON outbox (account_key, message_id);
