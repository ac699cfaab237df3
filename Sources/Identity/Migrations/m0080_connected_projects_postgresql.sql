-- Projects whose users are at another server: a connection to it, and a copy of its pools and users in the same
-- tables. The kind never changes: hosted, identity-platform, or countersign.
ALTER TABLE project ADD COLUMN kind TEXT NOT NULL DEFAULT 'hosted';
-- NULL for a mirrored account, since addresses are unique only among hosted ones.
ALTER TABLE account ADD COLUMN hosted BIGINT DEFAULT 1;
-- A digest of what the remote said; NULL for a hosted account.
ALTER TABLE account ADD COLUMN mirror_digest BIGINT;
-- When the remote was asked for what's stored.
ALTER TABLE account ADD COLUMN asked_at BIGINT;
-- The walk that didn't see it, and since when it's gone at the remote.
ALTER TABLE account ADD COLUMN missing_in BIGINT;
ALTER TABLE account ADD COLUMN gone_at BIGINT;
ALTER TABLE account_provider ADD COLUMN hosted BIGINT DEFAULT 1;
DROP INDEX account_by_email;
CREATE UNIQUE INDEX account_by_email ON account (scope_key, email_folded, hosted) WHERE email_folded IS
  NOT NULL;
DROP INDEX account_by_phone;
CREATE UNIQUE INDEX account_by_phone ON account (scope_key, phone, hosted) WHERE phone IS NOT NULL;
DROP INDEX account_provider_by_id;
CREATE UNIQUE INDEX account_provider_by_id ON account_provider (scope_key, provider_id, raw_id, hosted);
CREATE INDEX account_missing ON account (scope_key, missing_in) WHERE missing_in IS NOT NULL;
CREATE INDEX account_gone ON account (gone_at) WHERE gone_at IS NOT NULL;
CREATE TABLE connection (
  -- One for each connected project, kept when it's disconnected.
  project_id TEXT PRIMARY KEY REFERENCES project (project_id),
  remote_project TEXT NOT NULL,
  remote_number BIGINT,
  -- Empty for Google.
  url TEXT NOT NULL,
  access TEXT NOT NULL CHECK (access IN ('read', 'support', 'policy')),
  state TEXT NOT NULL CHECK (state IN ('working', 'paused', 'failing', 'disconnected')),
  -- Why it's paused or failing, since when, and the remote's words.
  cause TEXT,
  cause_at BIGINT,
  cause_text TEXT,
  sealed_credential BYTEA,
  credential_name TEXT NOT NULL,
  credential_key TEXT NOT NULL,
  credential_at BIGINT NOT NULL,
  -- Whether the header x-goog-user-project is sent.
  quota_project BIGINT NOT NULL DEFAULT 0,
  -- The permissions that the credential has and doesn't need.
  excess TEXT NOT NULL DEFAULT '[]',
  connected_at BIGINT NOT NULL,
  connected_by TEXT NOT NULL,
  policies_at BIGINT,
  -- 0 for at once.
  next_walk_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX connection_by_remote ON connection (url, remote_project);
-- The state of a pool's copy, and of the walk over its users.
CREATE TABLE mirror (
  scope_key BIGINT PRIMARY KEY REFERENCES scope (scope_key),
  state TEXT NOT NULL CHECK (state IN ('present', 'disabled', 'gone')),
  gone_at BIGINT,
  walk BIGINT NOT NULL DEFAULT 0,
  -- NULL while none is under way.
  started_at BIGINT,
  counted BIGINT,
  read BIGINT NOT NULL DEFAULT 0,
  position TEXT NOT NULL DEFAULT '',
  token TEXT,
  -- The walk whose users that it didn't see are gone; negative until an owner accepts it.
  accepted BIGINT,
  -- When the first walk was complete, and the last one, which took that many seconds.
  first_at BIGINT,
  walked_at BIGINT,
  seconds BIGINT,
  -- When the remote was asked for the policy that's stored, and when that last changed there.
  policy_at BIGINT,
  changed_at BIGINT
);
-- A user who can't be stored.
CREATE TABLE mirror_fault (
  scope_key BIGINT NOT NULL,
  uid TEXT NOT NULL,
  reason TEXT NOT NULL,
  walk BIGINT NOT NULL,
  PRIMARY KEY (scope_key, uid)
);
-- Intervals of which a remote says neither 0 nor that none are set are -1.
ALTER TABLE scope DROP CONSTRAINT scope_totp_intervals_check;
ALTER TABLE scope ADD CONSTRAINT scope_totp_intervals_check
  CHECK (totp_intervals + 1 >= 0 AND totp_intervals <= 10);
-- A project that's being connected is kept for an hour.
ALTER TABLE console_storage DROP CONSTRAINT console_storage_kind_check;
ALTER TABLE console_storage ADD CONSTRAINT console_storage_kind_check
  CHECK (kind IN ('code', 'fields', 'draft', 'connection'));
