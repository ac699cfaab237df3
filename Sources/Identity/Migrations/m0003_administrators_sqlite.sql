-- What an administrator's account has besides a password. The second factor stands on the row, so
-- that the query of a session, which each page makes, needs no other table.
ALTER TABLE administrator ADD COLUMN sign_ins INTEGER NOT NULL DEFAULT 0;
ALTER TABLE administrator ADD COLUMN last_sign_in_at INTEGER;
ALTER TABLE administrator ADD COLUMN language TEXT NOT NULL DEFAULT 'en';
ALTER TABLE administrator ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE administrator ADD COLUMN theme TEXT NOT NULL DEFAULT 'system';
ALTER TABLE administrator ADD COLUMN totp_secret BLOB;
ALTER TABLE administrator ADD COLUMN totp_enrolled_at INTEGER;
ALTER TABLE administrator ADD COLUMN totp_last_used_at INTEGER;
ALTER TABLE administrator ADD COLUMN totp_last_step INTEGER;

-- Codes for the day on which the device is gone. A used one is deleted.
CREATE TABLE recovery_code (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  code_digest BLOB NOT NULL,
  PRIMARY KEY (administrator_id, code_digest)
) STRICT, WITHOUT ROWID;

-- Links that make an administrator once. Only a digest of the link's token is kept. One address has
-- one invitation, and whoever accepts it becomes the administrator with its id.
CREATE TABLE invitation (
  invitation_id TEXT PRIMARY KEY,
  token_digest BLOB NOT NULL UNIQUE,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  invited_by TEXT NOT NULL,
  inviter_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_by_expiry ON invitation (expires_at);
