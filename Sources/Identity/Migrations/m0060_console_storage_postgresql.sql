-- What the console keeps from one page for a later one: a code that is shown once, the fields of a form,
-- and a form that was submitted after its session had expired. Nothing is kept for more than ten minutes.
CREATE TABLE console_storage (
  -- A digest of the session or the administrator.
  owner_digest BYTEA NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'fields', 'draft')),
  -- A digest of the user, the address, or the browser that it's for.
  subject_digest BYTEA NOT NULL,
  sealed BYTEA NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (owner_digest, kind, subject_digest)
);
CREATE INDEX console_storage_by_expiry ON console_storage (expires_at);
