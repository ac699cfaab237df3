-- The provider of OpenID Connect with which administrators sign in: one row, or none.
CREATE TABLE sign_in_provider (
  provider_id INTEGER PRIMARY KEY CHECK (provider_id = 1),
  name TEXT NOT NULL,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  -- NULL for a client without a secret.
  sealed_secret BLOB,
  scopes TEXT NOT NULL,
  groups_claim TEXT NOT NULL,
  -- The values of acr and amr that stand for a second factor, as a JSON array.
  mfa_values TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;

-- The roles that the provider's groups have.
CREATE TABLE sign_in_provider_role (
  group_name TEXT NOT NULL,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (group_name, role, project_id, tenant_id)
) STRICT, WITHOUT ROWID;

-- Who an administrator is at a provider, and their groups at the last sign-in, as a JSON array.
CREATE TABLE administrator_provider_link (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  administrator_id TEXT NOT NULL UNIQUE REFERENCES administrator ON DELETE CASCADE,
  groups TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_sign_in_at INTEGER,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

-- Roles that come from groups, and change with them.
ALTER TABLE administrator_grant ADD COLUMN is_from_provider INTEGER NOT NULL DEFAULT 0;
-- The issuer with which the session began, and its session there; NULL for other sessions.
ALTER TABLE console_session ADD COLUMN provider_issuer TEXT;
ALTER TABLE console_session ADD COLUMN provider_session TEXT;
-- When the administrator last confirmed their identity at the provider, and last with a second
-- factor.
ALTER TABLE console_session ADD COLUMN provider_at INTEGER;
ALTER TABLE console_session ADD COLUMN provider_mfa_at INTEGER;
CREATE INDEX console_session_by_provider ON console_session (provider_issuer, provider_session)
  WHERE provider_issuer IS NOT NULL;
