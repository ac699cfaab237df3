-- A signing key is published from the moment it is made, signs from signs_from on, and is published
-- and believed until verifies_until: NULL as long as no other key is made to follow it.
ALTER TABLE signing_key ADD COLUMN signs_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signing_key ADD COLUMN verifies_until INTEGER;
UPDATE signing_key SET signs_from = created_at;

-- The master keys that were the newest since the last one was dropped, by their ids. The keys
-- themselves are not in the database.
CREATE TABLE master_key (
  key_id TEXT PRIMARY KEY,
  first_used_at INTEGER NOT NULL,
  -- When the first pass had sealed everything with it.
  resealed_at INTEGER,
  passes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- How far the pass under way has gone over each table with something sealed in it.
CREATE TABLE reseal (
  place TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  rows INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  done INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The order of accounts:query by the moment of creation, which an import may set.
CREATE INDEX account_by_creation ON account (scope_key, created_at);
