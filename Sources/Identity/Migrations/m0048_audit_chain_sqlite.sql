-- Who does a task of the server that only one process may do at a time.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The hash chain of the audit log: a link for each entry, in the order of the log. docs/audit-chain.md
-- describes how it's computed. The sequence has no gaps.
CREATE TABLE audit_link (
  sequence INTEGER PRIMARY KEY,
  audit_id INTEGER NOT NULL,
  -- A random salt of 16 bytes for each part of the entry; that of an erased part is zero.
  salts BLOB NOT NULL,
  link BLOB NOT NULL
) STRICT;

-- Signed links.
CREATE TABLE audit_head (
  sequence INTEGER PRIMARY KEY,
  signed_at INTEGER NOT NULL,
  link BLOB NOT NULL,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;

-- Parts of entries that were erased, with the digests that the chain covers.
CREATE TABLE audit_erasure (
  audit_id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  digest BLOB NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (audit_id, part)
) STRICT, WITHOUT ROWID;

-- Signed records of entries that were removed because of their age.
CREATE TABLE audit_tombstone (
  last_sequence INTEGER PRIMARY KEY,
  first_sequence INTEGER NOT NULL,
  last_audit_id INTEGER NOT NULL,
  removed_at INTEGER NOT NULL,
  -- The links before the first and of the last removed entry.
  link_before BLOB NOT NULL,
  link_after BLOB NOT NULL,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;

-- The result of the background check, one row.
CREATE TABLE audit_check (
  check_id INTEGER PRIMARY KEY CHECK (check_id = 1),
  through_sequence INTEGER NOT NULL,
  -- The time of that entry.
  through_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  -- The first entry that failed the check.
  failed_sequence INTEGER
) STRICT;

-- When administrators last read a log, as far as the audit log says so.
CREATE TABLE audit_reading (
  administrator_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  read_at INTEGER NOT NULL,
  PRIMARY KEY (administrator_id, project_id, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_reading_by_age ON audit_reading (read_at);
