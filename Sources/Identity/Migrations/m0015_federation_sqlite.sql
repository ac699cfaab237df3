-- Public keys with which a project's own back ends sign custom tokens.
CREATE TABLE token_signer (
  signer_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  issuer TEXT NOT NULL,
  key_id TEXT NOT NULL DEFAULT '',
  -- SubjectPublicKeyInfo as DER, and its digest in hexadecimal.
  public_key BLOB NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX token_signer_by_project ON token_signer (project_id, created_at);
CREATE UNIQUE INDEX token_signer_in_force ON token_signer (project_id, issuer, fingerprint)
  WHERE revoked_at IS NULL;

-- Providers of identity that a scope knows: oidc.NAME and saml.NAME.
CREATE TABLE identity_provider (
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  provider_id TEXT NOT NULL,
  display_name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  issuer TEXT NOT NULL DEFAULT '',
  client_id TEXT NOT NULL DEFAULT '',
  -- The provider's public keys, as a JSON Web Key Set.
  key_set TEXT NOT NULL DEFAULT '',
  sealed_secret BLOB,
  -- The members of the message that rule nothing here and are given back.
  members TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (scope_key, provider_id)
) STRICT, WITHOUT ROWID;

-- The claims that came with a custom token: JSON, for the tokens of this session alone.
ALTER TABLE session ADD COLUMN claims TEXT;
