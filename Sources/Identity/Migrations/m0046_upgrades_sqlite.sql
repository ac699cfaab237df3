-- The oldest version of the program that can use this database. A migration that earlier versions
-- can't work with raises it; they then refuse to start.
INSERT INTO instance (name, value) VALUES ('oldest_program', '0.2.0')
  ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- The result of the latest check of the database file for corruption.
CREATE TABLE integrity_check (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  checked_at INTEGER NOT NULL,
  -- The first lines of SQLite's report; empty if it found nothing.
  faults TEXT NOT NULL
) STRICT;
