-- Sealed secrets that didn't open: one row each, however often one is tried.
CREATE TABLE unreadable_secret (
  kind TEXT NOT NULL,
  project_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  -- Which secret of the object, where it can have several.
  part TEXT NOT NULL,
  -- "changed", or "unknown-key" for a master key that isn't in the ring.
  reason TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- Whether it's in the audit log and among what needs attention.
  reported INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, project_id, tenant_id, object_id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX unreadable_secret_by_failure ON unreadable_secret (last_at);
