-- Passkeys of administrators. The key is in COSE; transports are separated by spaces.
CREATE TABLE passkey (
  passkey_id TEXT NOT NULL PRIMARY KEY,
  administrator_id TEXT NOT NULL REFERENCES administrator ON DELETE CASCADE,
  credential_id BLOB NOT NULL UNIQUE,
  cose_key BLOB NOT NULL,
  sign_count INTEGER NOT NULL,
  aaguid BLOB NOT NULL,
  transports TEXT NOT NULL,
  is_backup_eligible INTEGER NOT NULL,
  is_backed_up INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_by_administrator ON passkey (administrator_id);
-- When the administrator last used a passkey in the session.
ALTER TABLE console_session ADD COLUMN passkey_at INTEGER;
