-- Where entries of the audit log are copied to, in their order. docs/events.md describes the events.
CREATE TABLE event_stream (
  stream_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The name of a file, the host and port of a server, or a URL.
  target TEXT NOT NULL,
  -- The secret that signs requests; NULL for other kinds.
  sealed_secret BLOB,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  paused_at INTEGER,
  -- The positions of the last entry and of the last signed head that are done with.
  sequence INTEGER NOT NULL,
  head_sequence INTEGER NOT NULL,
  delivered_at INTEGER,
  -- Attempts that failed since the last delivery, and what the last of them met.
  failures INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER,
  failure TEXT,
  next_try_at INTEGER,
  -- The last test event; the failure is NULL if it was delivered.
  test_asked_at INTEGER,
  tested_at INTEGER,
  test_failure TEXT
) STRICT, WITHOUT ROWID;

-- Entries that a destination refused. Whatever follows was delivered without them.
CREATE TABLE dead_letter (
  stream_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  refused_at INTEGER NOT NULL,
  failure TEXT NOT NULL,
  -- Whether the destination got the event that marks the gap.
  is_marked INTEGER NOT NULL DEFAULT 0,
  retry_asked_at INTEGER,
  discarded_at INTEGER,
  PRIMARY KEY (stream_id, sequence)
) STRICT, WITHOUT ROWID;
